// Where git may be told that it stores other bytes than a file has. The attribute files of a worktree, and what a repository's own
// configuration names, are in test/first-save-git.test.ts.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type BytePath, bytePath } from '../../model/index.js'
import { Conversions } from './conversions.js'
import { scratchFolders } from './scratch-git.js'

const scratch = scratchFolders()
let top: string

beforeEach(() => {
  top = scratch()
  vi.stubEnv('HOME', join(top, 'home'))
  for (const name of Object.keys(process.env))
    if (/^(?:GIT_|XDG_)/.test(name)) vi.stubEnv(name, undefined)
  write('attributes', '*.txt filter=rot\n')
  write('naming', `[core]\n\tattributesFile = ${join(top, 'attributes')}\n`)
})
afterEach(() => void vi.unstubAllEnvs())

test('without any such file nothing is converted', () => {
  expect(convertedPaths()).toEqual([])
})

test.each<readonly [string, Readonly<Record<string, string>>]>([
  ['the global configuration', { GIT_CONFIG_GLOBAL: '{top}/naming' }],
  ['that of the machine', { GIT_CONFIG_SYSTEM: '{top}/naming' }],
])('%s is where a variable says', (_, variables) => {
  set(variables)
  expect(convertedPaths()).toEqual(['a.txt'])
})

test.each([
  ['{top}/elsewhere', 'elsewhere/git'],
  ['', 'home/.config/git'],
])('with XDG_CONFIG_HOME=%s the attributes of the user are in %s', (value, folder) => {
  write(`${folder}/attributes`, '*.txt filter=rot\n')
  set({ XDG_CONFIG_HOME: value })
  expect(convertedPaths()).toEqual(['a.txt'])
})

test.each<readonly [string, Readonly<Record<string, string>>]>([
  [
    'a setting by variables',
    { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.attributesFile', GIT_CONFIG_VALUE_0: 'x' },
  ],
  [
    'a file that they include',
    { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'include.path', GIT_CONFIG_VALUE_0: 'x' },
  ],
  ['git -c of a program above', { GIT_CONFIG_PARAMETERS: "'core.attributesfile'='/somewhere'" }],
  ['a place from where nobody knows', { GIT_CONFIG_GLOBAL: 'naming' }],
  ['attributes of a tree', { GIT_ATTR_SOURCE: 'HEAD' }],
])('%s may say anything: every file may be converted', (_, variables) => {
  set(variables)
  expect(convertedPaths()).toEqual(['a.txt', 'b.md'])
})

test('so may attributes of a tree that a configuration names', () => {
  write('home/.gitconfig', '[attr]\n\ttree = HEAD\n')
  expect(convertedPaths()).toEqual(['a.txt', 'b.md'])
})

test('other settings by variables say nothing of it', () => {
  set({ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' })
  expect(convertedPaths()).toEqual([])
})

function convertedPaths(): readonly string[] {
  const gitDir = bytePath(join(top, 'project/.git'))
  const repository = { worktree: bytePath(join(top, 'project')), gitDir, commonDir: gitDir }
  const conversions = Conversions.of(repository)
  return ['a.txt', 'b.md'].filter((path) => conversions.mayConvert(path as BytePath))
}

function set(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables))
    vi.stubEnv(name, value.replace('{top}', top))
}

function write(path: string, text: string): void {
  mkdirSync(join(top, path, '..'), { recursive: true })
  writeFileSync(join(top, path), text)
}
