// The stored texts of a list equal its JSON as a whole, after any change between two puts.
import { AIMessage } from '@langchain/core/messages'
import { MemorySaver } from '@langchain/langgraph-checkpoint'
import { expect, test } from 'vitest'
import { Channels } from '../../src/langgraph/channels.js'

const { serde } = new MemorySaver()
const place = { thread: 't', ns: '', id: '1' }

/** The same sequence each time; numbers from 0 to below the limit. */
function chance(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * limit)
  }
}

function makeItem(pick: (limit: number) => number, number: number): unknown {
  const makers = [
    () => `text ${number}`,
    () => number,
    () => undefined,
    () => Number.NaN,
    () => ({ role: 'user', content: `message ${number}` }),
    () => ({ [`key${number}`]: [{ deep: { n: number } }], other: null }),
    () => new AIMessage({ content: `message ${number}`, id: String(number) }),
    () => [number, [number]],
    () => ({ when: new Date(number), map: new Map([[number, 'a']]) }),
    () => new Uint8Array([number % 256]),
  ]
  return makers[pick(makers.length)]?.()
}

function changeInPlace(pick: (limit: number) => number, item: unknown): void {
  if (item instanceof AIMessage) {
    if (pick(2) === 0) item.content = `changed ${pick(100)}`
    else item.additional_kwargs[`key${pick(3)}`] = pick(100)
  } else if (item instanceof Uint8Array) item[0] = pick(256)
  else if (Array.isArray(item)) item.push(pick(100))
  else if (typeof item === 'object' && item !== null) {
    if ('map' in item && item.map instanceof Map) item.map.set(pick(3), pick(100))
    else Object.assign(item, { [`key${pick(3)}`]: pick(100) })
  }
}

function edit(pick: (limit: number) => number, list: unknown[], number: number): unknown[] {
  const at = pick(list.length + 1)
  switch (pick(9)) {
    case 0:
      return list.toSpliced(at, 1)
    case 1:
      return list.toSpliced(at, 0, makeItem(pick, number))
    case 2:
      return list.slice(pick(3))
    case 3:
      return list.toSpliced(at, 1, structuredCloneOf(list[at]))
    case 4:
      list.reverse()
      return list
    case 5:
    case 6:
      changeInPlace(pick, list[at])
      return list
    default:
      return [...list, makeItem(pick, number), makeItem(pick, -number)]
  }
}

function structuredCloneOf(item: unknown): unknown {
  return item instanceof AIMessage
    ? new AIMessage({ content: item.content })
    : structuredClone(item)
}

async function wholeText(list: readonly unknown[]): Promise<string> {
  const [, bytes] = await serde.dumpsTyped(list)
  return new TextDecoder().decode(bytes)
}

test.each([1, 2, 3, 4, 5])('edits of a list, from the seed %i', async (seed) => {
  const pick = chance(seed)
  const channels = new Channels(serde)
  let list: unknown[] = []
  for (let step = 1; step <= 300; step += 1) {
    list = edit(pick, list, step)
    const stored = await channels.dump(serde, { place, values: new Map([['list', list]]) })
    const texts = stored.get('list')
    if (!Array.isArray(texts)) throw new Error('A list is stored as a list')
    expect(`[${texts.join(',')}]`).toBe(await wholeText(list))
  }
})

test('two concurrent puts do not affect each other or the next one', async () => {
  const channels = new Channels(serde)
  const [a, b, c] = [{ n: 1 }, { n: 2 }, { n: 3 }]
  const dumped = (list: readonly unknown[]) =>
    channels.dump(serde, { place, values: new Map([['list', list]]) })
  const both = await Promise.all([dumped([a, b]), dumped([b, c, a]), dumped([c])])
  const next = await dumped([a, b, c])
  expect([...both, next].map((stored) => stored.get('list'))).toEqual([
    ['{"n":1}', '{"n":2}'],
    ['{"n":2}', '{"n":3}', '{"n":1}'],
    ['{"n":3}'],
    ['{"n":1}', '{"n":2}', '{"n":3}'],
  ])
})

test('a value of half a million items can be stored', async () => {
  const channels = new Channels(serde)
  const vector = Array.from({ length: 500_000 }, (_, n) => n)
  const values = new Map([['docs', [{ vector }]]])
  const first = await channels.dump(serde, { place, values })
  vector[499_999] = -1
  const second = await channels.dump(serde, { place, values })
  expect(String(first.get('docs')).slice(-10)).toBe('8,499999]}')
  expect(String(second.get('docs')).slice(-10)).toBe('499998,-1]}'.slice(-10))
})

test('threads beyond the cache limit are stored correctly', async () => {
  const channels = new Channels(serde)
  const message = { text: 'shared by all' }
  for (let round = 0; round < 2; round += 1) {
    message.text = `round ${round}`
    for (let thread = 0; thread < 250; thread += 1) {
      const at = { ...place, thread: String(thread) }
      const stored = await channels.dump(serde, { place: at, values: new Map([['x', [message]]]) })
      expect(stored.get('x')).toEqual([`{"text":"round ${round}"}`])
    }
  }
})
