// Any text as an id, a name, a reference or a path is accepted as text or refused with an error code. Nothing outside the project and
// the store changes, and the store stays intact.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Project, Session, Store } from '../../src/index.js'
import { openProject } from '../snapshot/capture/capture-helpers.js'
import { type Scratch, scratch, sdk } from '../support/scratch.js'

const HOSTILE: readonly string[] = [
  '',
  ' ',
  '.',
  '..',
  '../../victim/x',
  '/etc/passwd',
  'a/../../victim/x',
  '.git/config',
  'refs/heads/main',
  'nul\0byte',
  'line\nbreak\r\n',
  '\u001b[2J\u009b31m\u202e',
  'lone \ud800',
  '\udfff',
  '"\\000"',
  '"\\056\\056/victim/x"',
  '__proto__',
  'constructor',
  '-rf',
  '--upload-pack=touch x',
  "'; DROP TABLE checkpoints; --",
  '%00%2e%2e',
  'NaN',
  '1e400',
  '-1',
  '0',
  '99999999999999999999',
]
const HUGE = 'x'.repeat(10 << 20)

type Given = { readonly store: Store; readonly project: Project; readonly session: Session }

/** Every way to pass a text to the SDK. */
const WAYS: Readonly<Record<string, (given: Given, text: string) => Promise<unknown>>> = {
  'store.project': ({ store }, text) => store.project(text),
  'store.projectFor': ({ store }, text) => store.projectFor(text),
  'store.session': ({ store }, text) => withSession(store, text, { agent: 'a' }),
  'store.session, agent': ({ store }, text) => withSession(store, 'agent', { agent: text }),
  'store.resume': ({ store }, text) => store.resume(text),
  'store.fork': ({ store }, text) => store.fork(text, { session: text }),
  'store.deleteSession': ({ store }, text) => store.deleteSession(text),
  'project.save, reason': ({ project }, text) => project.save({ reason: text }),
  'project.save, name': ({ project }, text) => project.save({ name: text }),
  'project.show': ({ project }, text) => project.show(text),
  'project.diff, from': ({ project }, text) => project.diff(text),
  'project.diff, to': ({ project }, text) => project.diff('1', { to: text }),
  'project.diff, paths': ({ project }, text) => project.diff('1', { paths: [text] }),
  'project.rewind': ({ project }, text) => project.rewind(text),
  'project.rewind, paths': ({ project }, text) => project.rewind('1', { paths: [text] }),
  'project.pin': ({ project }, text) => project.pin(text),
  'project.unpin': ({ project }, text) => project.unpin(text),
  'project.name, ref': ({ project }, text) => project.name(text, 'x'),
  'project.name, name': ({ project }, text) => project.name('1', text),
  'project.forget': ({ project }, text) => project.forget(text, { dryRun: true }),
  'session.save, name': ({ session }, text) => session.save({ name: text, state: {} }),
  'session.save, reason': ({ session }, text) => session.save({ reason: text, state: {} }),
  'session.save, operationId': ({ session }, text) =>
    session.save({ operationId: text, state: {} }),
  'session.save, toolCall': ({ session }, text) => session.save({ toolCall: text, state: {} }),
  'session.save, state': ({ session }, text) =>
    session.save({ state: { [text]: text, list: [text] } }),
  'session.save, metadata': ({ session }, text) =>
    session.save({ state: {}, metadata: { [text]: text } }),
  'session.show': ({ session }, text) => session.show(text),
  'session.latest': ({ session }, text) => session.latest({ name: text }),
  'session.rewind': ({ session }, text) => session.rewind(text, { restore: 'state' }),
  'session.saveOncePerTurn': ({ session }, text) => session.saveOncePerTurn({ reason: text }),
  'session.fail': ({ session }, text) => session.fail(text),
}

async function withSession(store: Store, id: string, options: { agent: string }): Promise<void> {
  const session = await store.session(id, options)
  await session.save({ state: { a: 1 } })
  await session.close()
}

async function given(s: Scratch): Promise<Given> {
  s.write({ precious: 'mine' }, join(s.folder, 'victim'))
  s.git(['init', '-q'])
  const { store, project } = await openProject(s)
  await project.save()
  s.write({ 'a.txt': 'two\n' })
  const session = await store.session('agent-of-the-test', { agent: 'a', project })
  return { store, project, session }
}

/** The error code, 'none', or the whole error if it is not a SavestateError. */
async function outcome(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'none',
    (error: unknown) => (error instanceof sdk.SavestateError ? error.code : String(error)),
  )
}

test('every parameter accepts any text or refuses it with an error code', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const all = await given(s)
  const world = () => s.snapshotOf(s.folder, { except: ['home', 'project/a.txt'] })
  const before = world()
  const faults: string[] = []
  for (const [way, hand] of Object.entries(WAYS)) {
    for (const text of HOSTILE) {
      const code = await outcome(hand(all, text))
      if (code !== 'none' && !Object.hasOwn(sdk.ERROR_CODES, code))
        faults.push(`${way} ${JSON.stringify(text)}: ${code}`)
    }
  }
  expect(faults).toEqual([])
  expect(world()).toEqual(before)
  expect((await all.store.verify()).problems).toEqual([])
  // An accepted name or id is returned unchanged.
  const checkpoints = await all.project.list({ limit: 1000 })
  for (const { name } of checkpoints.filter((each) => each.name !== null))
    expect(HOSTILE.concat('x').map((text) => text.trim())).toContain(name)
  expect(readFileSync(join(s.folder, 'victim/precious'), 'utf8')).toBe('mine')
})

test('ten megabytes of text are accepted or refused with an error code too', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const all = await given(s)
  const faults: string[] = []
  for (const [way, hand] of Object.entries(WAYS)) {
    const code = await outcome(hand(all, HUGE))
    if (code !== 'none' && !Object.hasOwn(sdk.ERROR_CODES, code)) faults.push(`${way}: ${code}`)
  }
  expect(faults).toEqual([])
  expect((await all.store.verify()).problems).toEqual([])
})
