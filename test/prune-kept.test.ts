// docs/store.md#prune: what no prune may take, whichever limit it works for.
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Store } from '../src/index.js'
import { DAY_MS, HandClock, otherFolder, setProject } from './prune-helpers.js'
import { scratch } from './scratch.js'

/** A completed session with a large state, so that a limit of size would profit from its end. */
async function finished(
  store: Store,
  id: string,
  rest: { readonly name?: string; readonly folder?: string } = {},
): Promise<void> {
  const { name, folder } = rest
  const project = folder === undefined ? {} : { project: await store.project(folder) }
  const session = await store.session<unknown>(id, project)
  const state = { noise: randomBytes(200_000).toString('base64') }
  await session.save({ state, ...(name === undefined ? {} : { name }) })
  await session.complete()
  await session.close()
}

const sessionsOf = async (store: Store) => (await store.sessions()).map(({ id }) => id).sort()

test('a finished session with a named checkpoint does not go for its size', async () => {
  await using s = await scratch()
  const store = await s.open()
  await finished(store, 'named', { name: 'release' })
  await finished(store, 'named in a project', { name: 'release', folder: s.project })
  await finished(store, 'plain')
  await store.prune({ maxSizeMb: 0.9 })
  expect(await sessionsOf(store)).toEqual(['named', 'named in a project'])
  expect((await store.prune({ maxSizeMb: 0.1 })).above).not.toBeNull()
  expect(await sessionsOf(store)).toEqual(['named', 'named in a project'])
})

test('a session with a named checkpoint does not go for its age, with a project or without', async () => {
  await using s = await scratch()
  const clock = new HandClock()
  const store = await s.open({ clock })
  await finished(store, 'named', { name: 'release' })
  await finished(store, 'named in a project', { name: 'release', folder: s.project })
  await finished(store, 'plain')
  clock.pass(400 * DAY_MS)
  await store.prune()
  expect(await sessionsOf(store)).toEqual(['named', 'named in a project'])
})

test('the sessions of a project whose settings have an error do not go for their size', async () => {
  await using s = await scratch()
  const store = await s.open()
  const faulty = otherFolder(s, 'faulty')
  await finished(store, 'faulty', { folder: faulty })
  await finished(store, 'other', { folder: s.project })
  setProject(faulty, { keepAllHours: 'long' })
  await store.prune({ maxSizeMb: 0.6 })
  expect(await sessionsOf(store)).toEqual(['faulty'])
})
