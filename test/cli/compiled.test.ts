// The program and the SDK are run from their compiled form only if that was made of exactly these bytes; whatever is wrong
// with it, the answers are the same.
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
import { removeWhole } from '../remove-whole.js'

const NOTHING = 'Nothing has been saved here yet.'
const FORMS = ['main', 'program', 'program-look', 'capture']
const PLATFORM = `${process.version}-${process.platform}-${process.arch}`

let folder: string
/** A copy of the package, so that it can be damaged. */
let dist: string
let cli: string
const compiled = (name: string) => join(cli, `${name}.${PLATFORM}.compiled`)
const compiledSdk = () => join(dist, 'sdk', `sdk.${PLATFORM}.compiled`)

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-compiled-')))
  dist = join(folder, 'dist')
  cli = join(dist, 'cli')
  symlinkSync(join(dirname(PROGRAM), '../../node_modules'), join(folder, 'node_modules'))
})

beforeEach(() => {
  rmSync(dist, { recursive: true, force: true })
  cpSync(dirname(dirname(PROGRAM)), dist, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
})

afterAll(() => removeWhole(folder))

function node(...args: readonly string[]): string {
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    SAVESTATE_HOME: join(folder, 'store'),
  }
  return execFileSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' })
}

/** Which of the files `useCompiled` has put where `require` finds them. */
function taken(programForm = 'program'): string[] {
  const script = `
    const { useCompiled } = require(${JSON.stringify(join(cli, 'start.js'))})
    const forms = { main: 'main', program: ${JSON.stringify(programForm)}, capture: 'capture' }
    const isThere = (name) => ${JSON.stringify(cli)} + '/' + name + '.js' in require.cache
    // One that needs another loads it, so each is looked at as it comes.
    const take = ([name, form]) => (useCompiled(name, form), isThere(name))
    console.log(JSON.stringify(Object.entries(forms).filter(take).map(([name]) => name)))
  `
  return JSON.parse(node('-e', script)) as string[]
}

const list = () => node(join(cli, 'bin.js'), 'list', '-C', folder)

test('what the build has compiled is used', () => {
  expect(taken()).toEqual(['main', 'program', 'capture'])
  expect(taken('program-look')).toEqual(['main', 'program', 'capture'])
  expect(list()).toContain(NOTHING)
})

test('where it was built is not in it: the stacks of errors would tell', () => {
  const builtIn = dirname(dirname(dirname(PROGRAM)))
  for (const file of [...FORMS.map(compiled), compiledSdk()]) {
    expect(readFileSync(file).includes(builtIn)).toBe(false)
  }
})

test('without it the program compiles itself', () => {
  for (const name of FORMS) rmSync(compiled(name))
  expect(taken()).toEqual([])
  expect(taken('program-look')).toEqual([])
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
  // The one that \`list\` uses.
  const file = compiled('program-look')
  writeFileSync(file, damage(readFileSync(file)))
  expect(list()).toContain(NOTHING)
  expect(taken('program-look')).not.toContain('program')
})

/** Whether the SDK runs from its compiled form, and what an agent gets back that has saved a state with it. */
function workWithSdk(): { readonly isCompiled: boolean; readonly state: unknown } {
  const script = `
    const { openStore } = await import(${JSON.stringify(join(dist, 'index.js'))})
    const require = (await import('node:module')).createRequire(import.meta.url)
    const loaded = require.cache[${JSON.stringify(join(dist, 'sdk', 'sdk.js'))}]
    const store = await openStore({ home: ${JSON.stringify(join(folder, 'agent'))} })
    const session = await store.session('agent')
    await session.save({ state: { messages: ['kept'] } })
    const state = await session.stateAt()
    await store.close()
    // What \`require\` has loaded itself has a parent that asked for it.
    console.log(JSON.stringify({ isCompiled: loaded.parent == null, state }))
  `
  return JSON.parse(node('--input-type=module', '-e', script))
}

test('the SDK runs from what the build has compiled, and without it', () => {
  const state = { messages: ['kept'] }
  expect(workWithSdk()).toEqual({ isCompiled: true, state })
  rmSync(compiledSdk())
  expect(workWithSdk()).toEqual({ isCompiled: false, state })
})

test.each(DAMAGES)(
  'a form of the SDK that is %s is not used, and nothing else changes',
  (_, damage) => {
    writeFileSync(compiledSdk(), damage(readFileSync(compiledSdk())))
    expect(workWithSdk()).toEqual({ isCompiled: false, state: { messages: ['kept'] } })
  },
)

test('a program that was changed since runs as it is now, though it has as many letters', () => {
  const file = join(cli, 'program.js')
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
