// What a caller without types hands over in the place of something else: a code and a sentence, and nothing is done.
import { expect, test } from 'vitest'
import { scratch } from './scratch.js'

// What JavaScript allows.
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any

type Calls = Readonly<Record<string, () => unknown>>

/** The codes of the refusals; what was taken is told as such. */
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

test('hooks that are none are refused before anything is done, and the session can be closed', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one\n' } })
  const store: Untyped = await s.open()
  const project: Untyped = await store.project(s.project)
  const session: Untyped = await store.session('agent', { project })
  const { id } = await session.save({ state: { m: [1] }, files: true })
  s.write({ 'a.txt': 'two\n' })
  await (await store.session('idle')).close()
  const calls: Calls = {
    'project.save': () => project.save({}, null),
    'project.rewind': () => project.rewind({ to: id }, { confirm: true }),
    'store.list': () => store.list({}, null),
    'store.resume': () => store.resume('idle', null),
    'session.ensure': () => session.ensure('before', null),
    'session.rewind': () => session.rewind(id, {}, null),
    'session.rewind, a text': () => session.rewind(id, {}, 'yes'),
    'session.save': () => session.save({ state: { m: [2] } }, { onNotice: 'yes' }),
    'store.prune': () => store.prune(null),
    iterate: () => session.iterate(null).next(),
  }
  expect(await codesOf(calls)).toEqual(allRefused(calls))
  expect(await session.list()).toHaveLength(1)
  await session.close()
  await store.close()
})
