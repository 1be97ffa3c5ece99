// A list that is read piece by piece has the items that JSON.parse finds, wherever the pieces end.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonItems } from '../../../src/cli/exchange/json-items.js'
import { tries } from '../../support/test-budget.js'

/** Cut into pieces of these lengths, in turn. */
async function itemsIn(text: string, lengths: readonly number[]): Promise<unknown[]> {
  const bytes = Buffer.from(text)
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let at = 0
    for (let turn = 0; at < bytes.length; turn += 1) {
      const end = at + (lengths[turn % lengths.length] ?? 1)
      yield bytes.subarray(at, end)
      at = end
    }
  }
  const items: unknown[] = []
  for await (const item of jsonItems({ source: 'it', chunks })) items.push(item)
  return items
}

const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
const texts = fc
  .tuple(fc.array(fc.jsonValue(), { maxLength: 5 }), fc.constantFrom(0, 2))
  .map(([list, indent]) => JSON.stringify([...list, '\\', '"],[', { '{': ']' }], null, indent))

test('the items are those of the whole list', async () => {
  await fc.assert(
    fc.asyncProperty(texts, lengths, async (text, pieces) => {
      expect(await itemsIn(text, pieces)).toEqual(JSON.parse(text))
    }),
    { numRuns: tries(300) },
  )
  for (const text of ['[]', ' [ ]\n', '\ufeff[1]', '[ 1 , [2] ]\n'])
    expect(await itemsIn(text, [1])).toEqual(JSON.parse(text.replace('\ufeff', '')))
})

test('a text that is not a list is refused, as JSON.parse refuses it', async () => {
  const broken = fc
    .tuple(texts, fc.nat(), fc.constantFrom('', ',', ']', '[', '}', '{', '"', '\\', 'x', ' '))
    .map(([text, at, put]) => {
      const place = at % text.length
      return text.slice(0, place) + put + text.slice(place + 1)
    })
  await fc.assert(
    fc.asyncProperty(broken, lengths, async (text, pieces) => {
      const expected = parsed(text)
      const found = await itemsIn(text, pieces).catch((error: { code?: string }) => error.code)
      expect(found).toEqual(Array.isArray(expected) ? expected : 'BAD_INPUT')
    }),
    { numRuns: tries(500) },
  )
  for (const text of ['', '{}', '1', '[', '[1', '[1}', '[1,]', '[,]', '[1]]', '[1],', '[1] [2]'])
    await expect(itemsIn(text, [1])).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await expect(itemsIn('[1, 2', [9])).rejects.toThrow('it ends too early: line 1, column 6')
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
