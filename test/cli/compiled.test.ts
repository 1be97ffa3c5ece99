// The program is run from its compiled form only if that was made of exactly these bytes; whatever is wrong with it, the
// answers are the same.
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { PROGRAM } from './program.js'

const NOTHING = 'Nothing has been saved here yet.'
const PLATFORM = `${process.version}-${process.platform}-${process.arch}`

let folder: string
/** A copy of the program, so that it can be damaged. */
let copy: string
const compiled = (name: string) => join(copy, `${name}.${PLATFORM}.compiled`)

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-compiled-')))
  copy = join(folder, 'dist', 'cli')
  symlinkSync(join(dirname(PROGRAM), '../../node_modules'), join(folder, 'node_modules'))
})

beforeEach(() => {
  rmSync(copy, { recursive: true, force: true })
  cpSync(dirname(PROGRAM), copy, { recursive: true })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

function node(...args: readonly string[]): string {
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    SAVESTATE_HOME: join(folder, 'store'),
  }
  return execFileSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' })
}

/** Which of the files `useCompiled` has put where `require` finds them. */
function taken(): string[] {
  const script = `
    const { useCompiled } = require(${JSON.stringify(join(copy, 'start.js'))})
    const files = ['main', 'program', 'capture']
    const isThere = (name) => ${JSON.stringify(copy)} + '/' + name + '.js' in require.cache
    // One that needs another loads it, so each is looked at as it comes.
    console.log(JSON.stringify(files.filter((name) => (useCompiled(name), isThere(name)))))
  `
  return JSON.parse(node('-e', script)) as string[]
}

const list = () => node(join(copy, 'bin.js'), 'list', '-C', folder)

test('what the build has compiled is used', () => {
  expect(taken()).toEqual(['main', 'program', 'capture'])
  expect(list()).toContain(NOTHING)
})

test('without it the program compiles itself', () => {
  for (const name of ['main', 'program', 'capture']) rmSync(compiled(name))
  expect(taken()).toEqual([])
  expect(list()).toContain(NOTHING)
})

const DAMAGES: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
  ['empty', () => Buffer.alloc(0)],
  ['cut short', (bytes) => bytes.subarray(0, bytes.length / 2)],
  ['noise', (bytes) => Buffer.alloc(bytes.length, 'noise')],
  ['longer', (bytes) => Buffer.concat([bytes, Buffer.alloc(8)])],
  ...[0, 5, 40, 0.3, 0.6, 0.999].map(
    (at) => [`changed in a bit at ${at}`, (bytes: Buffer) => flipped(bytes, at)] as const,
  ),
]

test.each(DAMAGES)('one that is %s is not used, and nothing else changes', (_, damage) => {
  const file = compiled('program')
  writeFileSync(file, damage(readFileSync(file)))
  expect(list()).toContain(NOTHING)
  expect(taken()).not.toContain('program')
})

test('a program that was changed since runs as it is now, though it has as many letters', () => {
  const file = join(copy, 'program.js')
  const other = 'Nothing was ever kept in here so.'.slice(0, NOTHING.length)
  const source = readFileSync(file, 'utf8')
  expect(source).toContain(NOTHING)
  writeFileSync(file, source.replaceAll(NOTHING, other.padEnd(NOTHING.length)))
  expect(list()).toContain(other)
})

/** A place below 1 is a part of the whole, any other a byte. */
function flipped(bytes: Buffer, at: number): Buffer {
  const place = at < 1 && at > 0 ? Math.floor(bytes.length * at) : at
  const changed = Buffer.from(bytes)
  changed[place] = (changed[place] ?? 0) ^ 4
  return changed
}
