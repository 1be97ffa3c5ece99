// A caller without types passes a value of the wrong kind: the call is refused with a code and a sentence.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SavestateSaver } from '../../src/langgraph/saver.js'
import { ClassRegistry, openStore, verifyStore } from '../../src/index.js'
import { scratch } from '../support/scratch.js'

// JavaScript allows this.
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any

type Calls = Readonly<Record<string, () => unknown>>

/** The codes of the refusals, or that the value was accepted. */
async function codesOf(calls: Calls): Promise<Record<string, unknown>> {
  const codes: Record<string, unknown> = {}
  for (const [name, call] of Object.entries(calls))
    codes[name] = await (async () => call())().then(
      () => 'taken',
      (error: Error & { code?: string }) => error.code ?? error.message,
    )
  return codes
}

function allRefused(calls: Calls): Record<string, unknown> {
  return Object.fromEntries(Object.keys(calls).map((name) => [name, 'BAD_INPUT']))
}

test('callbacks that are none are refused before anything is done, and the session can be closed', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store: Untyped = await s.open()
  const project: Untyped = await store.project(s.project)
  const session: Untyped = await store.session('agent', { project })
  const { id } = await session.save({ state: { m: [1] }, files: true })
  s.write({ 'a.txt': 'two\n' })
  await (await store.session('idle')).close()
  const calls: Calls = {
    'project.save': () => project.save(null),
    'project.rewind': () => project.rewind(id, { confirm: true }),
    'store.list': () => store.list(null),
    'store.resume': () => store.resume('idle', null),
    'session.saveOncePerTurn': () => session.saveOncePerTurn(null),
    'session.rewind': () => session.rewind(id, null),
    'session.rewind, a text': () => session.rewind(id, 'yes'),
    'session.save': () => session.save({ state: { m: [2] }, onWarning: 'yes' }),
    'store.prune': () => store.prune(null),
    iterate: () => session.iterate(null).next(),
  }
  expect(await codesOf(calls)).toEqual(allRefused(calls))
  expect(await session.list()).toHaveLength(1)
  await session.close()
  await store.close()
})

test('a store is not opened with options of another kind, and no other store is opened instead', async () => {
  await using s = await scratch()
  const usual = join(s.folder, 'usual')
  const { SAVESTATE_HOME } = process.env
  process.env['SAVESTATE_HOME'] = usual
  try {
    const open = (options: object) => async () =>
      (openStore as Untyped)({ home: s.home, ...options })
    const calls: Calls = {
      'home null': open({ home: null }),
      'home a number': open({ home: 5 }),
      'home empty': open({ home: '' }),
      'home with NUL': open({ home: 'a\0b' }),
      'home of verifyStore': async () => (verifyStore as Untyped)({ home: null }),
      'classes a list': open({ classes: [class Point {}] }),
      'classes null': open({ classes: null }),
      'classes an object': open({ classes: { Point: class {} } }),
      'maxFiles a text': open({ limits: { maxFiles: 'many' } }),
      'maxFileBytes NaN': open({ limits: { maxFileBytes: Number.NaN } }),
      'allowSecrets a text': open({ limits: { allowSecrets: '.env' } }),
      'allowSecrets of numbers': open({ limits: { allowSecrets: [1] } }),
    }
    expect(await codesOf(calls)).toEqual(allRefused(calls))
    expect([existsSync(usual), existsSync(s.home)]).toEqual([false, false])
  } finally {
    if (SAVESTATE_HOME === undefined) delete process.env['SAVESTATE_HOME']
    else process.env['SAVESTATE_HOME'] = SAVESTATE_HOME
  }
})

test('a class is registered with all that it needs, or not at all', async () => {
  const codec = { type: class {}, toValue: () => 1, fromValue: () => 1 }
  const register = (name: unknown, given: unknown) => () =>
    (new ClassRegistry() as Untyped).register(name, given)
  const calls: Calls = {
    'no name': register(undefined, codec),
    'no codec': register('Point', undefined),
    'null for a codec': register('Point', null),
    'the class itself': register('Point', class {}),
    'no class': register('Point', { ...codec, type: 'Point' }),
    'no way to take it apart': register('Point', { ...codec, toValue: undefined }),
    'no way to make it': register('Point', { ...codec, fromValue: {} }),
  }
  expect(await codesOf(calls)).toEqual(allRefused(calls))
})

test('an error names the call that was made', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session: Untyped = await store.session('agent')
  await expect(session.list({ since: 'yesterday' })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: 'list: since must be a date',
  })
  await expect(session.save({ signal: 'now' })).rejects.toMatchObject({
    message: 'save: signal must be an AbortSignal',
  })
  const Saver: Untyped = SavestateSaver
  await expect(Saver.open({ home: s.home, proj: '.' })).rejects.toMatchObject({
    code: 'BAD_INPUT',
    message: 'SavestateSaver.open has no option "proj"',
    hint: expect.stringMatching(/^It takes home, project, files, serde,/),
  })
  const calls: Calls = {
    'files misspelt': () => new Saver({ store, file: true }),
    'project is a path': () => new Saver({ store, project: s.project, files: true }),
    'options are a path': () => Saver.open(s.home),
    'options are null': () => Saver.open(null),
    'options are a list': () => Saver.open([]),
    'options are a promise': () => Saver.open(Promise.resolve({})),
  }
  expect(await codesOf(calls)).toEqual(allRefused(calls))
})

test('an empty path is refused, and does not mean the whole project', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('agent', { project })
  const { id } = await session.save({ state: { m: [1] }, files: true })
  s.write({ 'a.txt': 'two\n' })
  const calls: Calls = {
    rewind: () => project.rewind(id, { paths: [''] }),
    'rewind, in quotes': () => project.rewind(id, { paths: ['""'] }),
    'session.rewind': () => session.rewind(id, { paths: [''] }),
    diff: () => project.diff(id, { paths: [''] }),
    forget: () => project.forget(''),
  }
  expect(await codesOf(calls)).toEqual(allRefused(calls))
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
  await store.close()
})
