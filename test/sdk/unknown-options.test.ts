// A caller without types misspells an option, or passes a value instead of options: the call is refused.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  clearStore,
  doctorStore,
  openStore,
  repairStore,
  storeHome,
  verifyStore,
} from '../../src/internal.js'
import { scratch } from '../support/scratch.js'

// JavaScript allows this.
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any

const refusal = (message: string, hint: string | null = expect.any(String) as string) => ({
  code: 'BAD_INPUT',
  message,
  hint,
})

test('a misspelt option of a call that changes something is refused, and nothing is changed', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store: Untyped = await s.open()
  const project: Untyped = await store.project(s.project)
  await project.save({})
  s.write({ 'a.txt': 'two\n' })
  const session: Untyped = await store.session('agent', { project })
  await session.save({ state: { messages: [] } })
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'rewind has no option "dryrun"': () => project.rewind('2', { dryrun: true }),
    'rewind has no option "to"': () => project.rewind('2', { to: '1' }),
    'list has no option "confirm"': () => project.list({ confirm: () => true }),
    'undo has no option "dry"': () => project.undo({ dry: true }),
    'forget has no option "dry_run"': () => project.forget('a.txt', { dry_run: true }),
    'prune has no option "dryRunning"': () => store.prune({ dryRunning: true }),
    'rekey has no option "dryrun"': () => store.rekey({ dryrun: true }),
    'save has no option "messages"': () => session.save({ messages: [{ role: 'user' }] }),
    'append has no option "state"': () => session.append('messages', [1], { state: {} }),
    'stateAt has no option "key"': () => session.stateAt('1', { key: ['messages'] }),
    'session has no option "mustExist"': () => store.session('other', { mustExist: true }),
    'fork has no option "from"': () => store.fork('1', { session: 'f', from: 'agent' }),
    'project has no option "watched"': () => store.project(s.project, { watched: true }),
  }
  const told: string[] = []
  for (const call of Object.values(calls)) {
    told.push(await call().then(String, (error: { message: string }) => error.message))
  }
  expect(told).toEqual(Object.keys(calls))
  await expect(session.save({ messages: [] })).rejects.toMatchObject({
    hint: expect.stringContaining('state'),
  })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
  expect((await store.sessions()).map(({ id }: { id: string }) => id)).toEqual(['agent'])
  expect(await session.list()).toHaveLength(1)
  expect(await project.list()).toHaveLength(2)
})

test('a misspelt place is not taken for the usual one', async () => {
  await using s = await scratch()
  const { SAVESTATE_HOME } = process.env
  const usual = join(s.folder, 'usual')
  process.env['SAVESTATE_HOME'] = usual
  try {
    const calls = { openStore, clearStore, storeHome }
    for (const [name, call] of Object.entries({
      ...calls,
      verifyStore,
      repairStore,
      doctorStore,
    })) {
      const untyped: Untyped = call
      await expect(untyped({ hom: s.home })).rejects.toMatchObject(
        refusal(`${name} has no option "hom"`, expect.stringMatching(/^It takes home\b/)),
      )
      for (const given of [s.home, [s.home], Promise.resolve({}), new Map()])
        await expect(untyped(given)).rejects.toMatchObject(
          refusal(`${name} takes its options as an object`, null),
        )
    }
    expect(existsSync(usual)).toBe(false)
  } finally {
    if (SAVESTATE_HOME === undefined) delete process.env['SAVESTATE_HOME']
    else process.env['SAVESTATE_HOME'] = SAVESTATE_HOME
  }
})

test('a store is not opened with less than was asked for', async () => {
  await using s = await scratch()
  const open: Untyped = openStore
  await expect(open({ home: s.home, encryption: { kye: 'ab'.repeat(32) } })).rejects.toMatchObject(
    refusal('encryption of openStore has no option "kye"', 'It takes key, newKey.'),
  )
  await expect(open({ home: s.home, limits: { maxfiles: 1 } })).rejects.toMatchObject(
    refusal('limits of openStore has no option "maxfiles"'),
  )
  await expect(open({ home: s.home, durability: 'fsnyc' })).rejects.toMatchObject(
    refusal('There is no durability "fsnyc"', 'There are fsync and process.'),
  )
  expect(existsSync(s.home)).toBe(false)
})

test('a tool call that could not run is not noted as one that failed, and no two steps are one', async () => {
  await using s = await scratch()
  const store: Untyped = await s.open()
  const session: Untyped = await store.session('agent')
  const request = { id: 'call', name: 'bash' }
  const run = async () => 'done'
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'The function that runs "bash" is missing': () => session.tool(request),
    'tool has no option "arguments"': () => session.tool({ ...request, arguments: {} }, run),
    'A tool call must have an id and a name, both strings': () => session.tool({ id: 7 }, run),
    'The key of step must be a string': () => session.step({ step: 1 }, run),
    'The function of step "step" is missing': () => session.step('step'),
    'A path must be a string, not undefined': () => store.project(undefined),
  }
  for (const [message, call] of Object.entries(calls)) {
    await expect(call()).rejects.toMatchObject({ code: 'BAD_INPUT', message })
  }
  expect(await session.inFlight()).toEqual([])
  expect([await session.tool(request, run), await session.step('step', run)]).toEqual([
    'done',
    'done',
  ])
})

test('likely mistakes are refused in words, and nothing is taken for something else', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n', f: '1', 3: '1' } })
  const store: Untyped = await s.open()
  const project: Untyped = await store.project(s.project)
  const session: Untyped = await store.session('agent', { project })
  const { id } = await session.save({ state: { m: [1] }, files: true })
  s.write({ f: '2', 3: '2' })
  const other: Untyped = await store.session('other')
  await other.close()
  const { brief }: Untyped = await store.resume('other')
  const calls: Readonly<Record<string, () => unknown>> = {
    'project is a path': () => store.session('a', { project: '.' }),
    'no id': () => store.session(),
    'resume without an id': () => store.resume(),
    'delete without an id': () => store.deleteSession(),
    'agent is an object': () => store.session('a', { agent: {} }),
    'agent is a number': () => store.session('a', { agent: 5 }),
    'keys are a text': () => session.stateAt(id, { keys: 'm' }),
    'stateAt null': () => session.stateAt(id, null),
    'import null': () => session.import(null),
    'import nothing': () => session.import(),
    'import a text': () => session.import('text'),
    'rewind null': () => session.rewind(id, null),
    'paths are a text': () => session.rewind(id, { paths: 'f3' }),
    'paths of a project are a text': () => project.rewind(id, { paths: 'f3' }),
    'paths of a diff are a text': () => project.diff(id, { paths: 'f3' }),
    'project.rewind null': () => project.rewind(id, null),
    'brief null': async () => brief(null),
  }
  const codes: Record<string, unknown> = {}
  for (const [name, call] of Object.entries(calls)) {
    codes[name] = await (async () => call())().then(
      () => 'taken',
      (error: Error & { code?: string }) => error.code ?? error.message,
    )
  }
  expect(codes).toEqual(Object.fromEntries(Object.keys(calls).map((name) => [name, 'BAD_INPUT'])))
  expect(readFileSync(join(s.project, 'f'), 'utf8')).toBe('2')
  expect(await store.sessions()).toHaveLength(2)
})

test('what is wrong with an option is said, and what it must be', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store: Untyped = await s.open()
  const project: Untyped = await store.project(s.project)
  const session: Untyped = await store.session('agent', { project })
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'rewind: to must be a string': () => project.rewind({ to: '1' }),
    'rewind: dryRun must be true or false': () => project.rewind('1', { dryRun: 'yes' }),
    'save takes its options as an object': () => project.save('before lunch'),
    'show: ref must be a string': () => project.show(1),
    'list: limit must be more than 0': () => project.list({ limit: -1 }),
    'list: limit must be a whole number': () => project.list({ limit: 1.5 }),
    'search: words must not be empty': () => project.search(' '),
    'search: words must have at most 1000 characters': () => project.search('x'.repeat(1001)),
    'rewind: restore must be one of "files", "state", "both"': () =>
      session.rewind('1', { restore: 'all' }),
    'append: items must be a list': () => session.append('messages', 'text'),
    'import: checkpoints.0.id must be a string; checkpoints.0.timestamp must be a string': () =>
      session.import([{ id: 1 }]),
    'import: checkpoints.0.id must be valid Unicode without NUL': () =>
      session.import([{ id: 'a\0', timestamp: '2026-11-15' }]),
    'prune: retentionDays must be 0 or more': () => store.prune({ retentionDays: -1 }),
  }
  for (const [message, call] of Object.entries(calls)) {
    await expect(call()).rejects.toMatchObject({ code: 'BAD_INPUT', message })
  }
  await expect(project.search('x', { most: 1 })).rejects.toMatchObject({
    hint: 'It takes words, limit, path, by, since, content, maxCompared.',
  })
})
