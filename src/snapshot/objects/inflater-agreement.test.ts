// The engine takes exactly what zlib takes: streams with a bit that is wrong, with codes of all kinds, and mere noise.
import { constants, deflateRawSync, deflateSync, inflateRawSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../../test/effort.js'
import { contents, noise, random, rarer, repeating } from '../../../test/sample-contents.js'
import { deflated } from './deflated.js'
import { Inflater } from './inflater.js'

const HEAD = Buffer.from([0x78, 0x01])
const WINDOW = 32_768
/** As in wasm/places.ts. */
const SLACK = 1024

const inflater = new Inflater()

type Expanded = { readonly content: Buffer; readonly length: number }

/** Undefined where zlib complains. */
function byZlib(expand: typeof inflateSync, stream: Buffer): Expanded | undefined {
  try {
    const { buffer, engine } = expand(stream, { info: true }) as unknown as {
      readonly buffer: Buffer
      readonly engine: { readonly bytesWritten: number }
    }
    return { content: buffer, length: engine.bytesWritten }
  } catch {
    return undefined
  }
}

function agreesOn(stream: Buffer, size: number): boolean {
  const expected = byZlib(inflateSync, stream)
  const found = inflater.inflate(stream, expected?.content.length ?? size)
  if (expected === undefined || found === undefined) return expected === found
  return found.content.equals(expected.content) && found.length === expected.length
}

/** With the checksum of what the blocks hold: otherwise nearly all would be refused for that. */
function agreesOnBlocks(blocks: Buffer, size: number): { agrees: boolean; isTaken: boolean } {
  const expected = byZlib(inflateRawSync, blocks)
  if (expected === undefined)
    return { agrees: agreesOn(Buffer.concat([HEAD, blocks]), size), isTaken: false }
  const sum = deflateSync(expected.content, { level: 0 }).subarray(-4)
  const stream = Buffer.concat([HEAD, blocks.subarray(0, expected.length), sum])
  const found = inflater.inflate(stream, expected.content.length)
  return {
    agrees: found?.content.equals(expected.content) === true && found.length === stream.length,
    isTaken: true,
  }
}

const { Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE } = constants
const SMALL = [
  ...['', 'a', 'abcabcabcabcabc', 'x'.repeat(600)].map((text) => Buffer.from(text)),
  Buffer.from('some words, and then some words again, which are other words than some\n'.repeat(2)),
  noise(5, 90),
  rarer(6, 500),
  repeating({ seed: 7, size: 400, longest: 20 }),
]
const STREAMS = SMALL.flatMap((bytes) => [
  ...[0, 1, 6, 9].map((level) => deflateSync(bytes, { level })),
  ...[Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE].map((strategy) => deflateSync(bytes, { strategy })),
  Buffer.from(deflated(bytes)),
])

/** Of the longer streams not each, but for the long run. */
function* withOneBitWrong(bytes: Buffer): Generator<Buffer> {
  const step = bytes.length < 40 ? 1 : tries(1, 7)
  for (let bit = 0; bit < bytes.length * 8; bit += step) {
    const wrong = Buffer.from(bytes)
    wrong[bit >> 3] = (wrong[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    yield wrong
  }
}

test('each bit of a stream that is wrong is so for both', () => {
  let taken = 0
  for (const stream of STREAMS) {
    const size = inflateSync(stream).length
    const faults: string[] = []
    for (const wrong of withOneBitWrong(stream))
      if (!agreesOn(wrong, size)) faults.push(wrong.toString('hex'))
    for (const blocks of withOneBitWrong(stream.subarray(2, -4))) {
      const { agrees, isTaken } = agreesOnBlocks(blocks, size)
      if (isTaken) taken += 1
      if (!agrees) faults.push(blocks.toString('hex'))
    }
    expect(faults).toEqual([])
  }
  expect(taken).toBeGreaterThan(500)
})

test('a byte that is wrong in a long stream is so for both', () => {
  fc.assert(
    fc.property(
      contents,
      fc.integer({ min: 0, max: 9 }),
      fc.nat(),
      fc.nat(255),
      (bytes, level, place, byte) => {
        const blocks = deflateRawSync(bytes, { level })
        blocks[place % blocks.length] = byte
        expect(agreesOnBlocks(blocks, bytes.length).agrees).toBe(true)
      },
    ),
    { seed: 35, numRuns: tries(1000, 60) },
  )
})

test('no part of a stream is taken for the whole', () => {
  for (const stream of STREAMS) {
    const size = inflateSync(stream).length
    for (let end = 0; end < stream.length; end++)
      expect(inflater.inflate(stream.subarray(0, end), size)).toBeUndefined()
  }
})

test('every head is taken or refused as by zlib', () => {
  const stream = deflateSync('a content, and what it is called')
  const heads = [...Array(65_536).keys()]
  const withHead = (head: number) => {
    stream.writeUInt16BE(head)
    return stream
  }
  // Zlib takes its time to complain: the others are all refused by both.
  const right = heads.filter((head) => head % 31 === 0)
  expect(right.filter((head) => !agreesOn(withHead(head), 32))).toEqual([])
  const wrong = heads.filter((head) => head % 31 !== 0)
  expect(wrong.filter((head) => inflater.inflate(withHead(head), 32))).toEqual([])
})

test('noise does no harm, and is taken or refused as by zlib', () => {
  const bytes = repeating({ seed: 4, size: 60_000, longest: 40 })
  const before = Buffer.from(deflated(bytes))
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 600 }),
      fc.nat(3000),
      fc.nat(7),
      (garbage, size, form) => {
        const blocks = Buffer.from(garbage)
        if (blocks.length > 0) blocks[0] = ((blocks[0] ?? 0) & ~7) | form
        expect(agreesOnBlocks(blocks, size).agrees).toBe(true)
        expect(agreesOn(blocks, size)).toBe(true)
      },
    ),
    { seed: 33, numRuns: tries(20_000, 1500) },
  )
  expect(Buffer.from(deflated(bytes)).equals(before)).toBe(true)
})

test('whatever a stream says, no more than a little is written behind the size that was asked for', () => {
  const output = deflated(Buffer.from('whatever'))
  const content = inflater.inflate(Buffer.from(output), 8)?.content ?? Buffer.alloc(0)
  expect(content.buffer).toBe(output.buffer)
  const memory = Buffer.from(content.buffer)
  fc.assert(
    fc.property(contents, fc.nat(), fc.nat(255), fc.nat(5000), (bytes, place, byte, size) => {
      const stream = deflateSync(bytes)
      stream[2 + (place % (stream.length - 2))] = byte
      const before = memory.subarray(output.byteOffset, content.byteOffset)
      const behind = memory.subarray(content.byteOffset + size + SLACK)
      const untouched = [before, behind].map((part) => Buffer.from(part.fill(0xaa)))
      inflater.inflate(stream, size)
      expect([before, behind].every((part, i) => untouched[i]?.equals(part))).toBe(true)
    }),
    { seed: 36, numRuns: tries(1000, 60) },
  )
})

test('codes of every kind are taken or refused as by zlib', () => {
  const below = random(34)
  const history = deflateRawSync(noise(8, WINDOW), {
    level: 0,
    finishFlush: constants.Z_SYNC_FLUSH,
  })
  const faults: string[] = []
  let [taken, refused] = [0, 0]
  for (let i = 0; i < tries(6000, 700); i++) {
    const block = blockWithCodes(below)
    const { agrees, isTaken } = agreesOnBlocks(Buffer.concat([history, block]), WINDOW + 1000)
    if (!agrees) faults.push(block.toString('hex'))
    if (isTaken) taken += 1
    else refused += 1
  }
  expect(faults).toEqual([])
  expect(Math.min(taken, refused)).toBeGreaterThan(100)
})

type Below = (limit: number) => number

/** Codes, most of them complete, and noise to be read in them. */
function blockWithCodes(below: Below): Buffer {
  const literals = 257 + below(30)
  const distances = 1 + below(below(4) === 0 ? 32 : 30)
  const widths = [
    ...someWidths(below, { of: literals, most: below(3) === 0 ? literals : 40, least: 256 }),
    ...someWidths(below, { of: distances, most: below(8), least: 0 }),
  ]
  if (below(4) === 0) widths[below(widths.length)] = below(16)
  const bits: number[] = []
  const put = (value: number, width: number) => {
    for (let bit = 0; bit < width; bit++) bits.push((value >> bit) & 1)
  }
  put(5, 3)
  put(literals - 257, 5)
  put(distances - 1, 5)
  put(15, 4)
  // 13 widths are told by four bits, and the other six by five.
  for (const symbol of [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15])
    put(symbol < 13 ? 4 : 5, 3)
  const tell = (symbol: number) => {
    const [code, width] = symbol < 13 ? [symbol, 4] : [symbol + 13, 5]
    for (let bit = width - 1; bit >= 0; bit--) bits.push((code >> bit) & 1)
  }
  for (let at = 0; at < widths.length; ) {
    let run = 1
    while (widths[at + run] === widths[at]) run += 1
    if (widths[at] === 0 && run >= 3 && below(5) > 0) {
      const told = Math.min(run, run < 11 ? 10 : 138)
      tell(told < 11 ? 17 : 18)
      put(told - (told < 11 ? 3 : 11), told < 11 ? 3 : 7)
      at += told
    } else if (at > 0 && widths[at] === widths[at - 1] && run >= 3) {
      const told = Math.min(run, 6)
      tell(16)
      put(told - 3, 2)
      at += told
    } else {
      tell(widths[at] ?? 0)
      at += 1
    }
  }
  for (let i = below(3000); i > 0; i--) bits.push(below(2))
  const bytes = Buffer.alloc(Math.ceil(bits.length / 8))
  for (const [at, bit] of bits.entries()) bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (bit << (at & 7))
  return bytes
}

/** The widths of a complete code, or of one symbol or none; `least` is one of the symbols that have one. */
function someWidths(
  below: Below,
  { of, most, least }: { readonly of: number; readonly most: number; readonly least: number },
): number[] {
  const widths = Array<number>(of).fill(0)
  const wanted = Math.min(of, most)
  const split = wanted < 2 ? (wanted === 1 ? [1] : []) : [1, 1]
  for (let tried = 0; split.length < wanted && tried < 5000; tried++) {
    // The last is often the widest: so codes become deep.
    const at = below(3) === 0 ? split.length - 1 : below(split.length)
    const width = (split[at] ?? 0) + 1
    if (width <= 15) split.splice(at, 1, width, width)
  }
  const symbols = [...widths.keys()].filter((symbol) => symbol !== least)
  for (const [i, width] of split.entries()) {
    const symbol = i === 0 ? least : symbols.splice(below(symbols.length), 1)[0]
    if (symbol !== undefined && symbol < of) widths[symbol] = width
  }
  return widths
}
