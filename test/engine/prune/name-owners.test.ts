// docs/guide/store.md#how-long: checkpoints that the user named are kept, and no agent can take over such a name.
import { expect, test } from 'vitest'
import type { Project } from '../../../src/index.js'
import { DAY_MS, HandClock, idsOf, saveMany, setStore } from './prune-helpers.js'
import { scratch, type Scratch } from '../../support/scratch.js'

const REFUSED = expect.objectContaining({ code: 'NEEDS_PERSON' })

async function openHere(s: Scratch, clock = new HandClock()) {
  const store = await s.open({ clock })
  return { store, clock, project: await store.project(s.project) }
}

test('an agent cannot reuse a name of the user, and the original is kept', async () => {
  await using s = await scratch()
  setStore(s, { retention: 'hermes', maxCheckpoints: 1 })
  const { store, project } = await openHere(s)
  s.write({ a: 'mine' })
  const { id } = await project.save({ name: 'works' })
  s.write({ a: 'theirs' })
  await expect(project.save({ name: 'works', namedBy: 'agent' })).rejects.toEqual(REFUSED)
  expect(await idsOf(project)).toEqual([id])
  const session = await store.session<unknown>('agent', { project })
  const inSession = session.save({ name: 'works', namedBy: 'agent', files: true })
  await expect(inSession).rejects.toEqual(REFUSED)
  await session.close()
  const [newest = ''] = await saveMany(project, s, { count: 1 })
  await expect(project.name(newest, 'works', { namedBy: 'agent' })).rejects.toEqual(REFUSED)
  await expect(project.name(id, 'other', { namedBy: 'agent' })).rejects.toEqual(REFUSED)
  await expect(project.name(id, null, { namedBy: 'agent' })).rejects.toEqual(REFUSED)
  await store.prune()
  expect(await project.show('works')).toMatchObject({ id })
})

test('an agent may use, move and remove names of agents, until the user gives that name', async () => {
  await using s = await scratch()
  const { project } = await openHere(s)
  const agent = { namedBy: 'agent' } as const
  const [one = '', two = ''] = await saveMany(project, s, { count: 2 })
  await project.name(one, 'before it', agent)
  await project.name(two, 'before it', agent)
  await project.name(one, null, agent)
  s.write({ a: 'new' })
  await project.save({ name: 'before it', ...agent })
  await project.name(one, 'before it')
  await expect(project.name(two, 'before it', agent)).rejects.toEqual(REFUSED)
  // A save that finds nothing new names the newest checkpoint.
  const { id } = await project.save({ name: 'before it', namedBy: 'user' })
  await expect(project.name(id, null, agent)).rejects.toEqual(REFUSED)
})

test('an agent cannot give a name with shell syntax', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const { project } = await openHere(s)
  const saving = project.save({ name: 'works$(touch x)', namedBy: 'agent' })
  await expect(saving).rejects.toMatchObject({ code: 'BAD_INPUT' })
  expect(await idsOf(project)).toEqual([])
})

const ways: Readonly<Record<string, (project: Project, id: string) => Promise<unknown>>> = {
  'given later': (project, id) => project.name(id, 'works'),
  pinned: (project, id) => project.pin(id),
}

test.each(Object.keys(ways))(
  'every checkpoint of a session that the user marked is kept, not only the newest: %s',
  async (way) => {
    await using s = await scratch()
    const { store, clock, project } = await openHere(s)
    const session = await store.session<unknown>('agent', { project, lease: false })
    const steps: string[] = []
    for (let step = 0; step < 6; step += 1) {
      s.write({ a: `${step}` })
      steps.push((await session.save({ files: true, name: 'step' })).id)
    }
    await session.complete()
    await session.close()
    for (const id of steps.slice(0, 3)) await ways[way]?.(project, id)
    clock.pass(1000 * DAY_MS)
    await store.prune()
    // The program named all of them `step`; the newest with that name is kept too.
    expect(await idsOf(project)).toEqual([...steps.slice(0, 3), steps[5]].toReversed())
  },
)

test('every save that the user named is kept; an agent keeps the newest of each name', async () => {
  await using s = await scratch()
  const { store, clock, project } = await openHere(s)
  const save = async (namedBy: 'user' | 'agent', name: string) => {
    s.write({ a: `${Math.random()}` })
    return (await project.save({ name, namedBy })).id
  }
  const users = [await save('user', 'works'), await save('user', 'works')]
  const agents = [await save('agent', 'try'), await save('agent', 'try')]
  s.write({ a: 'last' })
  await project.save()
  clock.pass(1000 * DAY_MS)
  await store.prune()
  expect(await idsOf(project)).toEqual([...users, agents[1]].toReversed())
  expect(await store.verify()).toMatchObject({ problems: [] })
})
