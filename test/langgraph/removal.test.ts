// Copying and deleting. The cases of LangGraph's conformance suite for Python (libs/checkpoint-conformance), which
// the one for JavaScript lacks, and those of delta channels.
import { describe, expect, test } from 'vitest'
import {
  at,
  type Config,
  idIn,
  listIds,
  listOf,
  put,
  putChain,
  scratchSaver,
  steps,
  valuesAt,
} from './saver.js'

function last(configs: readonly Config[]): Config {
  return configs.at(-1) ?? {}
}

describe('copyThread', () => {
  test('copies every checkpoint of every namespace, with values, metadata, order and writes', async () => {
    await using s = await scratchSaver()
    const root = await putChain(s.saver, at('from'), steps(4))
    await putChain(s.saver, at('from', { ns: 'child:1' }), steps(2))
    await s.saver.putWrites(last(root), [['ch', 'written']], 'task')
    await s.saver.putWrites(root[0] ?? {}, [['ch', 'earlier']], 'task')
    const before = await listOf(s.saver, { configurable: { thread_id: 'from' } })
    await s.saver.copyThread('from', 'to')
    const copies = await listOf(s.saver, { configurable: { thread_id: 'to' } })
    const renamed = before.map((tuple) => ({
      ...tuple,
      config: { configurable: { ...tuple.config.configurable, thread_id: 'to' } },
      ...(tuple.parentConfig === undefined
        ? {}
        : {
            parentConfig: { configurable: { ...tuple.parentConfig.configurable, thread_id: 'to' } },
          }),
    }))
    expect(copies).toEqual(renamed)
    expect(copies).toHaveLength(6)
    expect(await listOf(s.saver, { configurable: { thread_id: 'from' } })).toEqual(before)
  })

  test('makes an independent copy', async () => {
    await using s = await scratchSaver()
    const chain = await putChain(s.saver, at('from'), steps(2))
    await s.saver.copyThread('from', 'to')
    await put(s.saver, at('to', { id: idIn(last(chain)) }), { values: { step: 'of the copy' } })
    await s.saver.deleteThread('from')
    expect(await valuesAt(s.saver, at('to'))).toEqual({ step: 'of the copy' })
    expect(await valuesAt(s.saver, at('to', { id: idIn(last(chain)) }))).toEqual({ step: 1 })
    expect(await listOf(s.saver, at('from'))).toEqual([])
  })

  test('does nothing for a missing thread, or to the thread itself', async () => {
    await using s = await scratchSaver()
    await putChain(s.saver, at('there'), steps(2))
    const before = await listOf(s.saver, {})
    await s.saver.copyThread('missing', 'to')
    await s.saver.copyThread('there', 'there')
    await Promise.all([s.saver.copyThread('x', 'y'), s.saver.copyThread('y', 'x')])
    expect(await listOf(s.saver, {})).toEqual(before)
  })

  test('creates a deleted thread again', async () => {
    await using s = await scratchSaver()
    await putChain(s.saver, at('from'), steps(1))
    await putChain(s.saver, at('to'), steps(1))
    await s.saver.deleteThread('to')
    await s.saver.copyThread('from', 'to')
    const next = await put(s.saver, last(await putChain(s.saver, at('to'), steps(1))))
    expect(await listIds(s.saver, at('to'))).toContain(idIn(next))
    expect(await listIds(s.saver, at('to'))).toHaveLength(3)
  })
})

describe('prune', () => {
  test('a name that SQLite cannot store exactly neither reads nor prunes another thread', async () => {
    await using s = await scratchSaver()
    for (const [other, name] of [
      ['a', 'a\0b'],
      ['\ufffd', '\ud800'],
    ] as const) {
      await putChain(s.saver, at(other), steps(3))
      const config = { configurable: { thread_id: name } }
      for (const call of [
        () => s.saver.prune([name]),
        () => s.saver.getTuple(config),
        () => listIds(s.saver, config),
      ])
        await expect(call()).rejects.toMatchObject({ code: 'BAD_INPUT' })
      expect(await listIds(s.saver, { configurable: { thread_id: other } })).toHaveLength(3)
    }
  })

  test('keeps the latest of each thread and namespace, with its writes, and other threads', async () => {
    await using s = await scratchSaver()
    const one = await putChain(s.saver, at('one'), steps(4))
    const child = await putChain(s.saver, at('one', { ns: 'child:1' }), steps(2))
    const two = await putChain(s.saver, at('two'), steps(3))
    const other = await putChain(s.saver, at('other'), steps(2))
    for (const config of one) await s.saver.putWrites(config, [['ch', idIn(config)]], 'task')
    const latest = await s.saver.getTuple(at('one'))
    await s.saver.prune(['one', 'two', 'missing'], 'keep_latest')
    await s.saver.prune([])
    expect({
      one: await listIds(s.saver, at('one')),
      child: await listIds(s.saver, at('one', { ns: 'child:1' })),
      two: await listIds(s.saver, at('two')),
      other: await listIds(s.saver, at('other')),
    }).toEqual({
      one: [idIn(last(one))],
      child: [idIn(last(child))],
      two: [idIn(last(two))],
      other: other.map(idIn).reverse(),
    })
    expect(await s.saver.getTuple(at('one'))).toEqual(latest)
    expect(latest?.pendingWrites).toEqual([['task', 'ch', idIn(last(one))]])
    const next = await put(s.saver, last(one), { values: { step: 'next' } })
    expect(await valuesAt(s.saver, next)).toEqual({ step: 'next' })
  })

  test('rejects a string and an unknown strategy, and removes nothing', async () => {
    await using s = await scratchSaver()
    for (const thread of ['1', '2', '12']) await putChain(s.saver, at(thread), steps(3))
    const untyped = s.saver as unknown as Record<string, (...given: unknown[]) => Promise<void>>
    const calls: Readonly<Record<string, () => Promise<void> | undefined>> = {
      'threadIds must be a list of strings': () => untyped['prune']?.('12', 'delete'),
      'There is no strategy "keep"': () => untyped['prune']?.(['12'], 'keep'),
      'runIds must be a list of strings': () => untyped['deleteForRuns']?.('12'),
    }
    for (const [message, call] of Object.entries(calls))
      await expect(call()).rejects.toMatchObject({ code: 'BAD_INPUT', message })
    for (const thread of ['1', '2', '12']) expect(await listOf(s.saver, at(thread))).toHaveLength(3)
    await untyped['prune']?.([12], 'delete')
    expect(await listOf(s.saver, at('12'))).toEqual([])
  })

  test('with delete removes the threads', async () => {
    await using s = await scratchSaver()
    const one = await putChain(s.saver, at('one'), steps(3))
    await putChain(s.saver, at('other'), steps(2))
    await s.saver.prune(['one', 'missing'], 'delete')
    expect(await listOf(s.saver, at('one'))).toEqual([])
    expect(await listOf(s.saver, at('other'))).toHaveLength(2)
    await expect(put(s.saver, last(one))).rejects.toMatchObject({ code: 'SESSION_DELETED' })
  })

  test('keeps the checkpoints that a delta channel is computed from', async () => {
    await using s = await scratchSaver()
    const chain = await putChain(s.saver, at('t'), [
      { values: { m: ['oldest'] } },
      { values: { m: ['seed'], other: 0 } },
      ...[1, 2, 3].map((count) => ({
        values: { other: count },
        metadata: { counters_since_delta_snapshot: { m: [count, count] } },
      })),
    ])
    for (const config of chain) await s.saver.putWrites(config, [['m', [idIn(config)]]], 'task')
    const asked = { config: last(chain), channels: ['m'] }
    const before = await s.saver.getDeltaChannelHistory(asked)
    await s.saver.prune(['t'])
    expect(before['m']?.seed).toEqual(['seed'])
    expect(before['m']?.writes).toHaveLength(3)
    expect(await s.saver.getDeltaChannelHistory(asked)).toEqual(before)
    expect(await listIds(s.saver, at('t'))).toEqual(chain.slice(1).map(idIn).reverse())
  })

  test('keeps the sends of a checkpoint of an old version', async () => {
    await using s = await scratchSaver()
    const parent = await put(s.saver, at('t'), { checkpoint: { v: 3 } })
    const sends = [
      ['__pregel_tasks', { node: 'a' }],
      ['other', 1],
    ] satisfies [string, unknown][]
    await s.saver.putWrites(parent, sends, 'task')
    await put(s.saver, parent, { values: { x: 1 }, checkpoint: { v: 3 } })
    const before = await s.saver.getTuple(at('t'))
    await s.saver.prune(['t'])
    expect(before?.checkpoint.channel_values).toEqual({ x: 1, __pregel_tasks: [{ node: 'a' }] })
    expect(await listOf(s.saver, at('t'))).toEqual([before])
  })
})

describe('deleteForRuns', () => {
  const runs = (...ids: string[]) => ids.map((run_id) => ({ metadata: { run_id } }))

  test('removes the checkpoints and writes of the runs, in every thread and namespace', async () => {
    await using s = await scratchSaver()
    const chain = await putChain(s.saver, at('t'), runs('run1', 'run2', 'run3', 'run1'))
    await putChain(s.saver, at('t', { ns: 'child:1' }), runs('run1', 'run3'))
    await putChain(s.saver, at('other'), runs('run2', 'kept'))
    for (const config of chain) await s.saver.putWrites(config, [['ch', 'val']], 'task')
    await s.saver.deleteForRuns([])
    await s.saver.deleteForRuns(['missing'])
    expect(await listOf(s.saver, {})).toHaveLength(8)
    await s.saver.deleteForRuns(['run1', 'run2'])
    const left = await listOf(s.saver, {})
    expect(
      left.map(({ config, metadata }) => [config.configurable?.['thread_id'], metadata]),
    ).toEqual([
      ['other', { source: 'loop', step: 0, parents: {}, run_id: 'kept' }],
      ['t', { source: 'loop', step: 0, parents: {}, run_id: 'run3' }],
      ['t', { source: 'loop', step: 0, parents: {}, run_id: 'run3' }],
    ])
    expect(await s.saver.getTuple(chain[0] ?? {})).toBeUndefined()
    // Put again under its id, it has no old writes.
    await put(s.saver, at('t'), { checkpoint: { id: idIn(chain[0] ?? {}) } })
    expect((await s.saver.getTuple(chain[0] ?? {}))?.pendingWrites).toEqual([])
  })

  test('finds a run by the id that the caller passed to the graph', async () => {
    await using s = await scratchSaver()
    const configurable = { thread_id: 't' }
    await put(s.saver, { configurable, metadata: { run_id: 'by metadata' } })
    await put(s.saver, { configurable, runId: 'by option' })
    await put(s.saver, { configurable, runId: 'other' })
    await s.saver.deleteForRuns(['by metadata', 'by option'])
    expect(await listOf(s.saver, {})).toHaveLength(1)
  })

  test('keeps the checkpoints that the delta channel of another run is computed from', async () => {
    await using s = await scratchSaver()
    const counted = { counters_since_delta_snapshot: { m: [1, 1] } }
    const chain = await putChain(s.saver, at('t'), [
      { values: { m: ['old'] }, metadata: { run_id: 'going' } },
      { values: { m: ['seed'] }, metadata: { run_id: 'going' } },
      { metadata: { run_id: 'staying', ...counted } },
    ])
    for (const config of chain) await s.saver.putWrites(config, [['m', [idIn(config)]]], 'task')
    const asked = { config: last(chain), channels: ['m'] }
    const before = await s.saver.getDeltaChannelHistory(asked)
    await s.saver.deleteForRuns(['going'])
    expect(await s.saver.getDeltaChannelHistory(asked)).toEqual(before)
    expect(await listIds(s.saver, at('t'))).toEqual(chain.slice(1).map(idIn).reverse())
  })
})

describe('deleteThread', () => {
  test('removes all namespaces and writes of one thread only', async () => {
    await using s = await scratchSaver()
    for (const thread of ['one', 'two'])
      for (const ns of ['', 'child:1'])
        for (const config of await putChain(s.saver, at(thread, { ns }), steps(3)))
          await s.saver.putWrites(config, [['ch', 'val']], 'task')
    const two = await listOf(s.saver, { configurable: { thread_id: 'two' } })
    await s.saver.deleteThread('one')
    await s.saver.deleteThread('one')
    await s.saver.deleteThread('missing')
    expect(await listOf(s.saver, {})).toEqual(two)
    expect(two).toHaveLength(6)
  })
})

describe('putWrites', () => {
  test('a repeated write is ignored, except errors, interrupts and the like', async () => {
    await using s = await scratchSaver()
    const config = await put(s.saver, at('t'))
    const write = (value: string) =>
      s.saver.putWrites(
        config,
        [
          ['ch', value],
          ['__error__', `error ${value}`],
          ['__interrupt__', `interrupt ${value}`],
          ['ch2', value],
        ],
        'task',
      )
    await write('first')
    await write('second')
    expect((await s.saver.getTuple(config))?.pendingWrites).toEqual([
      ['task', '__interrupt__', 'interrupt second'],
      ['task', '__error__', 'error second'],
      ['task', 'ch', 'first'],
      ['task', 'ch2', 'first'],
    ])
  })

  test('writes belong to one checkpoint of one namespace, ordered by task and number', async () => {
    await using s = await scratchSaver()
    const root = await put(s.saver, at('t'))
    const id = idIn(root)
    const child = await put(s.saver, at('t', { ns: 'child' }), { checkpoint: { id } })
    await s.saver.putWrites(
      root,
      [
        ['ch', 'b1'],
        ['ch', 'b2'],
      ],
      'b',
    )
    await s.saver.putWrites(root, [['ch', 'a']], 'a')
    await s.saver.putWrites(child, [['ch', 'child']], 'a')
    await put(s.saver, root)
    expect((await s.saver.getTuple(root))?.pendingWrites).toEqual([
      ['a', 'ch', 'a'],
      ['b', 'ch', 'b1'],
      ['b', 'ch', 'b2'],
    ])
    expect((await s.saver.getTuple(child))?.pendingWrites).toEqual([['a', 'ch', 'child']])
    expect((await s.saver.getTuple(at('t')))?.pendingWrites).toEqual([])
  })
})
