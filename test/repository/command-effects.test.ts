// The effect of a command is stated once, in src/base/command-effects.ts. Lists that cannot be derived from it must agree with it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMAND_EFFECTS, type Effect, effectOf } from '../../src/base/index.js'
import { COMMAND_NAMES, optionsOf } from '../../src/cli/args/commands-table.js'
import type { DaemonRequest } from '../../src/daemon/requests.js'

const SERVED: Readonly<Record<DaemonRequest['do'], true>> = { hook: true, save: true }

const ENGINE = join(import.meta.dirname, '../../src/engine')

const changes = (effect: string | undefined) => effect?.startsWith('changes-') === true
const plain = (command: string) => effectOf({ command, action: undefined, has: () => false })

test('every command has an effect', () => {
  expect(Object.keys(COMMAND_EFFECTS).sort()).toEqual([...COMMAND_NAMES].sort())
})

test('a plan and a help text change nothing; an action and an option count', () => {
  const effect = (command: string, action?: string, ...options: readonly string[]) =>
    effectOf({ command, action, has: (option) => options.includes(option) })
  expect(effect('restore')).toBe('changes-files')
  expect(effect('undo', undefined, 'dry-run')).toBe('reads')
  expect(effect('drop', '1', 'help')).toBe('reads')
  expect([effect('config'), effect('config', 'set')]).toEqual(['reads', 'changes-store'])
  expect(effect('install', 'claude', 'allow-agent-rewind')).toBe('changes-store')
  expect([effect('constructor'), effect('config', 'constructor')]).toEqual([undefined, 'reads'])
})

test('the daemon serves no command that changes files or removes something from the store', () => {
  expect(Object.keys(SERVED).filter((name) => changes(plain(name)))).toEqual([])
})

test('a command that changes files or the store asks first, and no other does by default', () => {
  const asking = COMMAND_NAMES.filter((name) => optionsOf(name).some((it) => it.name === 'yes'))
  const changing = COMMAND_NAMES.filter((name) => changes(plain(name)))
  // The page of `ui` asks. The others can be done again the other way round, by hand.
  expect(changing.filter((name) => !asking.includes(name))).toEqual(['ui', 'unpin', 'move'])
  expect(asking.filter((name) => plain(name) === 'reads')).toEqual(['remote', 'config'])
})

test('an operation has the effect of the command of its name', () => {
  const faults = readdirSync(ENGINE, { recursive: true, encoding: 'utf8' }).flatMap((file) => {
    const text = file.endsWith('.ts') ? readFileSync(join(ENGINE, file), 'utf8') : ''
    const found = text.matchAll(/\n {2}name: '(\w+)',\n(?:.*\n){1,4}? {2}effect: '([\w-]+)'/g)
    return [...found].flatMap(([, name = '', effect = '']) => {
      const wanted: Effect | undefined = plain(name)
      const isOne = wanted !== undefined && (changes(wanted) || changes(effect))
      return isOne && wanted !== effect ? [`${file}: ${name} ${effect}`] : []
    })
  })
  expect(faults).toEqual([])
})
