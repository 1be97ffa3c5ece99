// Saving the folder with the graph, and rewinding it.
import { Annotation, START, StateGraph } from '@langchain/langgraph'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch, sdk } from '../support/scratch.js'
import { at, put, SavestateSaver } from './saver.js'

const State = Annotation.Root({
  done: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
})

/** Two nodes that each leave their name in a file. */
function writers(it: Scratch, saver: InstanceType<typeof SavestateSaver>) {
  const leaves = (name: string) => () => {
    it.write({ 'work.txt': `by ${name}`, [`${name}.txt`]: name })
    return { done: [name] }
  }
  return new StateGraph(State)
    .addNode('first', leaves('first'))
    .addNode('second', leaves('second'))
    .addEdge(START, 'first')
    .addEdge('first', 'second')
    .compile({ checkpointer: saver })
}

test('every checkpoint of the graph has its files, and rewindFiles restores them', async () => {
  await using it = await scratch({ files: { 'work.txt': 'by nobody' } })
  const store = await it.open()
  const project = await store.project(it.project)
  const saver = new SavestateSaver({ store, project, files: true })
  const graph = writers(it, saver)
  const config = { configurable: { thread_id: 'my thread' } }
  // Wait at each step: otherwise a node may run while the folder is being saved.
  await graph.invoke({ done: [] }, { ...config, durability: 'sync' })

  const history = []
  for await (const state of graph.getStateHistory(config)) history.push(state)
  const saved = await Promise.all(history.map((state) => saver.filesOf(state.config)))
  const checkpoints = await project.list()
  expect(checkpoints.map(({ reason }) => reason)).toEqual([
    'langgraph my thread step 2',
    'langgraph my thread step 1',
    'langgraph my thread step -1',
  ])
  const [last, middle, oldest] = checkpoints.map(({ id }) => id)
  expect(saved).toEqual([last, middle, oldest, oldest])

  const before = it.snapshotOf()
  const afterFirst = history[1]?.config ?? {}
  expect((await saver.rewindFiles(afterFirst, { dryRun: true })).applied).toBe(false)
  expect(it.snapshotOf()).toEqual(before)
  const rewound = await saver.rewindFiles(afterFirst)
  expect(rewound.applied).toBe(true)
  expect(readFileSync(join(it.project, 'work.txt'), 'utf8')).toBe('by first')
  expect([...it.snapshotOf().keys()]).toEqual(['', 'first.txt', 'work.txt'])
  const fork = await graph.updateState(afterFirst, { done: ['changed my mind'] }, 'second')
  expect(await saver.filesOf(fork)).toBe(rewound.checkpoint)
  await project.undo()
  expect(it.snapshotOf()).toEqual(before)
})

test('a saver that opens its own store can save files too', async () => {
  await using it = await scratch({ files: { 'a.txt': 'one' } })
  const { home, project } = it
  const saver = await SavestateSaver.open({ home, project, files: true, durability: 'process' })
  try {
    const config = await put(saver, at('t\nhread'), { metadata: { step: 4 } })
    it.write({ 'a.txt': 'two' })
    await saver.rewindFiles(config)
    expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('one')
  } finally {
    await saver.close()
  }
  const store = await it.open()
  const list = await (await store.project(project)).list()
  expect(list.at(-1)?.reason).toBe('langgraph t hread step 4')
})

test('rewindFiles reports a checkpoint without files', async () => {
  await using it = await scratch()
  const store = await it.open()
  const saver = new SavestateSaver({ store })
  const config = await put(saver, at('t'))
  expect(await saver.filesOf(config)).toBeUndefined()
  const partial = { code: 'CHECKPOINT_PARTIAL' }
  await expect(saver.rewindFiles(config)).rejects.toMatchObject(partial)
  await expect(saver.rewindFiles(at('unknown'))).rejects.toMatchObject(partial)
  expect(() => new SavestateSaver({ store, files: true })).toThrow(sdk.SavestateError)
})

test('a folder that cannot be saved makes the put fail, and nothing is stored', async () => {
  await using it = await scratch({ files: { 'a.txt': 'one', 'b.txt': 'two' } })
  const store = await it.open({ limits: { maxFiles: 1 } })
  const project = await store.project(it.project)
  const saver = new SavestateSaver({ store, project, files: true })
  await expect(put(saver, at('t'))).rejects.toMatchObject({ code: 'TOO_MANY_FILES' })
  expect(await saver.getTuple(at('t'))).toBeUndefined()
})
