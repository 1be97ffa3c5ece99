// Values that LangGraph's serializer would lose, puts that fail, and custom serializers.
import { MemorySaver, type SerializerProtocol } from '@langchain/langgraph-checkpoint'
import { expect, test } from 'vitest'
import { at, listOf, decodeMetadata, put, SavestateSaver, scratchSaver, valuesAt } from './saver.js'

test('a value that the serializer would lose is rejected with the name of the channel, and nothing is written', async () => {
  await using s = await scratchSaver()
  const config = await put(s.saver, at('t'), { values: { kept: [1] } })
  const lost: Record<string, unknown>[] = [
    { 'my channel': 1n },
    { 'my channel': { deep: [{ big: 1n }] } },
    { 'my channel': ['fine', { big: 1n }] },
    { 'my channel': () => 'a function' },
    { 'my channel': Symbol('s') },
    { 'my channel': ['fine', () => 'a function'] },
  ]
  for (const values of lost) {
    const putting = put(s.saver, config, { values: { kept: [1, 2], ...values } })
    await expect(putting).rejects.toMatchObject({
      code: 'STATE_UNSTORABLE',
      message: 'The serializer of LangGraph would lose the value of the channel "my channel"',
    })
  }
  await expect(s.saver.putWrites(config, [['w', 1n]], 'task')).rejects.toMatchObject({
    code: 'STATE_UNSTORABLE',
  })
  expect(await listOf(s.saver, at('t'))).toHaveLength(1)
  // The replacement text itself can be stored.
  const text = '[unable to serialize, circular reference is too complex to analyze]'
  const next = await put(s.saver, config, { values: { text, list: [text] } })
  expect(await valuesAt(s.saver, next)).toEqual({ text, list: [text] })
})

test('a put after a failed one is complete', async () => {
  await using s = await scratchSaver()
  const list = [{ n: 1 }]
  const first = await put(s.saver, at('t'), { values: { list } })
  await s.saver.deleteThread('t')
  const refused = put(s.saver, first, { values: { list: [...list, { n: 2 }] } })
  await expect(refused).rejects.toMatchObject({ code: 'SESSION_DELETED' })
  const anew = await put(s.saver, at('t'), { values: { list: [...list, { n: 2 }, { n: 3 }] } })
  expect(await valuesAt(await s.reopen(), anew)).toEqual({ list: [{ n: 1 }, { n: 2 }, { n: 3 }] })
})

test('a custom serializer is used for every value, and lists are not split', async () => {
  await using s = await scratchSaver()
  const own = new MemorySaver().serde
  const turned = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff)
  const serde: SerializerProtocol = {
    async dumpsTyped(value) {
      const [type, bytes] = await own.dumpsTyped(value)
      return [`turned ${type}`, turned(bytes)]
    },
    async loadsTyped(type, bytes) {
      if (typeof bytes === 'string') throw new Error('Text was not what it gave')
      return own.loadsTyped(type.replace('turned ', ''), turned(bytes))
    },
  }
  const store = await s.it.open()
  const saver = new SavestateSaver({ store, serde })
  const values = { list: [{ a: 1 }, 'b'], one: { two: 2 }, raw: new Uint8Array([1, 2]) }
  const config = await put(saver, at('t'), { values, metadata: { note: 'secret' } })
  await saver.putWrites(config, [['list', ['c']]], 'task')
  const tuple = await saver.getTuple(config)
  expect(tuple?.checkpoint.channel_values).toEqual(values)
  expect([tuple?.metadata, tuple?.pendingWrites]).toEqual([
    decodeMetadata({ note: 'secret' }),
    [['task', 'list', ['c']]],
  ])
  expect(await listOf(saver, at('t'), { filter: { note: 'secret' } })).toEqual([tuple])
  await expect(s.saver.getTuple(config)).rejects.toThrow('Unknown serialization type: turned json')
})

test('a write after a failed put is not lost', async () => {
  await using s = await scratchSaver()
  const bad = put(s.saver, at('t'), { values: { a: 1n } })
  const good = put(s.saver, at('t'), { values: { a: 1 } })
  await expect(bad).rejects.toMatchObject({ code: 'STATE_UNSTORABLE' })
  expect(await valuesAt(s.saver, await good)).toEqual({ a: 1 })
})
