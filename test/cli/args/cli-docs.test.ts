import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cliReference } from '../../../scripts/cli-docs.js'
import type { CommandSpec } from '../../../src/cli/args/command-spec.js'
import { COMMAND_NAMES, COMMANDS, usageOf } from '../../../src/cli/args/commands-table.js'
import { widthOf } from '../../../src/cli/terminal/text-width.js'
import { scratch } from '../program.js'

test('docs/reference/cli.md matches the command table', () => {
  const page = readFileSync(new URL('../../../docs/reference/cli.md', import.meta.url), 'utf8')
  expect(page).toBe(cliReference())
})

test('the help of each command has its summary, its usage, no line over 80 columns, and a page that exists', () => {
  using s = scratch()
  for (const name of COMMAND_NAMES) {
    const { code, stdout, stderr } = s.run([name, '--help'])
    expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: '' })
    expect(stdout.split('\n')[0]).toBe(`${COMMANDS[name].summary}.`)
    const usage = stdout.split('Usage: ')[1]?.split(/\n(?! {7})/)[0] ?? ''
    expect(usage.replace(/\n {7}/g, ' ')).toBe(usageOf(name))
    const isPage = (line: string) => line.startsWith('More: /')
    const long = stdout.split('\n').filter((line) => widthOf(line) > 80 && !isPage(line))
    expect([name, long]).toEqual([name, []])
    const [, page] = /^More: (.*)$/m.exec(stdout) ?? []
    expect(page === undefined || existsSync(page)).toBe(true)
  }
})

test('the usage of a command names all of its options', () => {
  for (const name of COMMAND_NAMES) {
    const { options = [] }: CommandSpec = COMMANDS[name]
    const named = usageOf(name).split(/[^\w-]+/)
    const missing = options.filter(
      ({ name: long, short }) => !named.includes(`--${long}`) && !named.includes(`-${short}`),
    )
    expect([name, missing.map((option) => option.name)]).toEqual([name, []])
  }
})

test('every form of asking for help prints the same', () => {
  using s = scratch()
  const help = s.run(['help', 'rewind'])
  expect(help.code).toBe(0)
  expect(s.run(['rewind', '--help'])).toEqual(help)
  expect(s.run(['-h', 'rewind'])).toEqual(help)
  expect(s.run(['rewind', '3', '--nonsense', '--help'])).toEqual(help)
})

test('general help lists every command', () => {
  using s = scratch()
  const { stdout } = s.run(['help'])
  const listed = [...stdout.matchAll(/^ {2}([\w-]+) {2,}\S/gm)].map(([, name]) => name)
  expect(listed.slice(0, COMMAND_NAMES.length)).toEqual([...COMMAND_NAMES])
  expect(stdout.split('\n').filter((line) => widthOf(line) > 80)).toEqual([])
  expect(s.run(['--help']).stdout).toBe(stdout)
})
