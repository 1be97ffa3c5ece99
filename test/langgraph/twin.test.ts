// Runs real graphs with our saver and LangGraph's MemorySaver side by side: both must hold the same data.
import {
  Annotation,
  Command,
  DeltaChannel,
  END,
  interrupt,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { AIMessage, HumanMessage, RemoveMessage, ToolMessage } from '@langchain/core/messages'
import {
  type BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  MemorySaver,
  type PendingWrite,
} from '@langchain/langgraph-checkpoint'
import { expect, test } from 'vitest'
import { type Config, listOf, type Saver, scratchSaver } from './saver.js'

/** Reads from our saver; writes to both. */
class Twin extends MemorySaver {
  readonly ours: Saver

  constructor(ours: Saver) {
    super()
    this.ours = ours
  }

  override async put(
    config: Config,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions = {},
  ): Promise<Config> {
    // Ours first, before the other one awaits anything.
    const [ours] = await Promise.all([
      this.ours.put(config, checkpoint, metadata, newVersions),
      super.put(config, checkpoint, metadata),
    ])
    return ours
  }

  override async putWrites(config: Config, writes: PendingWrite[], task: string): Promise<void> {
    await Promise.all([
      this.ours.putWrites(config, writes, task),
      super.putWrites(config, writes, task),
    ])
  }

  override getTuple(config: Config): ReturnType<Saver['getTuple']> {
    return this.ours.getTuple(config)
  }

  override getDeltaChannelHistory(
    asked: Parameters<Saver['getDeltaChannelHistory']>[0],
  ): ReturnType<Saver['getDeltaChannelHistory']> {
    return this.ours.getDeltaChannelHistory(asked)
  }

  memory(): BaseCheckpointSaver {
    const memory = new MemorySaver()
    memory.storage = this.storage
    memory.writes = this.writes
    return memory
  }
}

const texts = () =>
  Annotation<string[]>({ reducer: (before, added) => before.concat(added), default: () => [] })
const State = Annotation.Root({ x: texts(), y: Annotation<string> })
const T = { configurable: { thread_id: 't' } }

/** START → a and b → c; b asks. */
function parallel(saver: BaseCheckpointSaver) {
  return new StateGraph(State)
    .addNode('a', () => ({ x: ['from a'] }))
    .addNode('b', () => ({ y: String(interrupt('?')) }))
    .addNode('c', () => ({ x: ['from c'] }))
    .addEdge(START, 'a')
    .addEdge(START, 'b')
    .addEdge('a', 'c')
    .addEdge('b', 'c')
    .compile({ checkpointer: saver })
}

async function history(graph: ReturnType<typeof parallel>) {
  const all = []
  for await (const state of graph.getStateHistory(T)) all.push(state)
  return all
}

const scenarios: Readonly<Record<string, (saver: BaseCheckpointSaver) => Promise<void>>> = {
  async 'an interrupt, and going on'(saver) {
    const graph = parallel(saver)
    await graph.invoke({ x: ['in'] }, T)
    const result = await graph.invoke(new Command({ resume: 'answer' }), T)
    expect(result).toEqual({ x: ['in', 'from a', 'from c'], y: 'answer' })
  },

  async 'an update while the writes of a sibling are pending'(saver) {
    const graph = parallel(saver)
    await graph.invoke({ x: ['in'] }, T)
    await graph.updateState(T, { y: 'updated' }, 'b')
    expect((await graph.getState(T)).values).toEqual({ x: ['in', 'from a'], y: 'updated' })
    expect(await graph.invoke(null, T)).toEqual({ x: ['in', 'from a', 'from c'], y: 'updated' })
  },

  async 'copies of every checkpoint'(saver) {
    const graph = parallel(saver)
    await graph.invoke({ x: ['in'] }, T)
    for (const state of await history(graph))
      await graph.updateState(state.config, null, '__copy__')
  },

  async 'forks by update'(saver) {
    const graph = parallel(saver)
    await graph.invoke({ x: ['in'] }, T)
    const { config } = await graph.getState(T)
    const left = await graph.updateState(config, { x: ['left'] }, 'a')
    const right = await graph.updateState(config, { x: ['right'] }, 'a')
    await graph.updateState(left, { x: ['leftmost'] }, 'a')
    await graph.updateState(right, null, '__copy__')
    expect((await graph.getState(left)).values['x']).toEqual(['in', 'left'])
    expect((await graph.getState(right)).values['x']).toEqual(['in', 'right'])
  },

  async 'tasks that are cleared, and an update of nothing'(saver) {
    const graph = parallel(saver)
    await graph.invoke({ x: ['in'] }, T)
    await graph.updateState(T, null)
    await graph.updateState(T, null, END)
  },

  async 'checkpoints only at the end'(saver) {
    const graph = parallel(saver)
    await graph.invoke({ x: ['in'] }, { ...T, durability: 'exit' })
    await graph.invoke(new Command({ resume: 'answer' }), { ...T, durability: 'exit' })
  },

  async 'checkpoints that each step waits for'(saver) {
    const graph = parallel(saver)
    await graph.invoke({ x: ['in'] }, { ...T, durability: 'sync' })
    await graph.invoke(new Command({ resume: 'answer' }), { ...T, durability: 'sync' })
  },

  async 'time travel'(saver) {
    const graph = parallel(saver)
    await graph.invoke({ x: ['in'] }, T)
    await graph.invoke(new Command({ resume: 'answer' }), T)
    for (const state of (await history(graph)).slice(1, 3)) await graph.invoke(null, state.config)
  },

  async 'a graph within a graph'(saver) {
    const inner = new StateGraph(State)
      .addNode('i', () => ({ y: String(interrupt('inside')) }))
      .addNode('j', () => ({ x: ['from j'] }))
      .addEdge(START, 'i')
      .addEdge('i', 'j')
      .compile()
    const graph = new StateGraph(State)
      .addNode('before', () => ({ x: ['before'] }))
      .addNode('inner', inner)
      .addEdge(START, 'before')
      .addEdge('before', 'inner')
      .compile({ checkpointer: saver })
    await graph.invoke({ x: ['in'] }, T)
    const result = await graph.invoke(new Command({ resume: 'answer' }), T)
    expect(result['y']).toBe('answer')
  },

  async 'tasks that are sent'(saver) {
    const graph = new StateGraph(State)
      .addNode('worker', (state: { y: string }) => ({ x: [state.y] }))
      .addConditionalEdges(START, () => ['1', '2'].map((y) => new Send('worker', { y })))
      .compile({ checkpointer: saver })
    await graph.invoke({ x: ['in'] }, T)
    const result = await graph.invoke({ x: ['again'] }, T)
    expect(result['x']).toEqual(['in', '1', '2', 'again', '1', '2'])
  },

  async 'a delta channel'(saver) {
    const Delta = Annotation.Root({
      m: () =>
        new DeltaChannel<string[], string[]>((before, added) => (before ?? []).concat(...added), {
          snapshotFrequency: 3,
        }),
      n: Annotation<number>,
    })
    const graph = new StateGraph(Delta)
      .addNode('w', ({ m, n }) => ({ m: [`w${m.length}`], n: (n ?? 0) + 1 }))
      .addEdge(START, 'w')
      .addConditionalEdges('w', ({ n }) => (n % 7 === 0 ? END : 'w'))
      .compile({ checkpointer: saver })
    const result = await graph.invoke({ m: ['in'] }, T)
    expect((await graph.getState(T)).values['m']).toEqual(result['m'])
    const again = await graph.invoke({ m: ['again'] }, T)
    expect(again['m']).toHaveLength(16)
  },

  async 'a node that fails, beside one that does not'(saver) {
    let isBroken = true
    const graph = new StateGraph(State)
      .addNode('a', () => ({ x: ['from a'] }))
      .addNode('b', () => {
        if (isBroken) throw new Error('broken')
        return { x: ['from b'] }
      })
      .addEdge(START, 'a')
      .addEdge(START, 'b')
      .compile({ checkpointer: saver })
    await expect(graph.invoke({ x: ['in'] }, T)).rejects.toThrow('broken')
    isBroken = false
    expect((await graph.invoke(null, T))['x']).toEqual(['in', 'from a', 'from b'])
  },

  async 'messages that come, are changed and go'(saver) {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('model', ({ messages }) => {
        const call = { name: 'look', args: { at: messages.length }, id: `call ${messages.length}` }
        return {
          messages: [
            new AIMessage({ content: 'hm', id: `ai${messages.length}`, tool_calls: [call] }),
          ],
        }
      })
      .addNode('tool', ({ messages }) => ({
        messages: [
          new ToolMessage({ content: 'seen', tool_call_id: 'call', id: `t${messages.length}` }),
        ],
      }))
      .addEdge(START, 'model')
      .addEdge('model', 'tool')
      .compile({ checkpointer: saver })
    for (const content of ['one', 'two', 'three'])
      await graph.invoke({ messages: [new HumanMessage({ content, id: content })] }, T)
    await graph.updateState(T, { messages: [new HumanMessage({ content: 'TWO', id: 'two' })] })
    await graph.updateState(T, { messages: [new RemoveMessage({ id: 'one' })] })
    const { messages } = (await graph.getState(T)).values
    expect(messages).toHaveLength(8)
    expect(messages[2]).toBeInstanceOf(HumanMessage)
    expect(messages[2].content).toBe('TWO')
  },

  async 'state that a node changes in place'(saver) {
    const Board = Annotation.Root({
      board: Annotation<{ cells: number[] }>,
      list: Annotation<number[][]>,
    })
    const graph = new StateGraph(Board)
      .addNode('grow', ({ board, list }) => {
        board.cells.push(board.cells.length)
        list[0]?.push(7)
        return { board, list }
      })
      .addEdge(START, 'grow')
      .addConditionalEdges('grow', ({ board }) => (board.cells.length < 5 ? 'grow' : END))
      .compile({ checkpointer: saver })
    await graph.invoke({ board: { cells: [] }, list: [[]] }, { ...T, durability: 'sync' })
    expect((await graph.getState(T)).values).toEqual({
      board: { cells: [0, 1, 2, 3, 4] },
      list: [[7, 7, 7, 7, 7]],
    })
  },
}

for (const [name, run] of Object.entries(scenarios)) {
  test(`${name}: both savers hold the same`, async () => {
    await using s = await scratchSaver()
    const twin = new Twin(s.saver)
    await run(new MemorySaver())
    await run(twin)
    const expected = await held(twin.memory())
    expect(await held(s.saver)).toEqual(expected)
    expect(await held(await s.reopen())).toEqual(expected)
    expect(expected.size).toBeGreaterThan(1)
  })
}

/** MemorySaver returns pending writes in the order of arrival, and lists thread by thread. */
async function held(saver: BaseCheckpointSaver): Promise<Map<string, unknown>> {
  const tuples = await listOf(saver, { configurable: {} })
  return new Map(
    tuples.map((tuple) => {
      const writes = (tuple.pendingWrites ?? []).map((write) => JSON.stringify(write)).sort()
      return [JSON.stringify(tuple.config), { ...tuple, pendingWrites: writes }] as const
    }),
  )
}
