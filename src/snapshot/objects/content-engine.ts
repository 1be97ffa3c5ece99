// The program of wasm/, which compresses contents, expands them and counts their lines
// (docs/decisions/0026-own-compressor.md, 0027-own-inflater.md). Nothing rests on it: where it cannot run, Node does the work.
import { inflateSync } from 'node:zlib'
import { CONTENT_PROGRAM } from './content-program.js'

/** `length`: how many bytes of the input the stream took. */
export type Inflated = { readonly content: Buffer; readonly length: number }

export type ContentEngine = {
  /** No content may have more. */
  readonly mostBytes: number
  /** Of what is handed over to be expanded, no more is looked at. */
  readonly mostStreamBytes: number
  /** A zlib stream; valid until the next call. */
  readonly deflate: (content: Uint8Array) => Uint8Array
  /**
   * What the zlib stream holds that `input` begins with, if that is exactly `size` bytes. Valid until the next call of it,
   * and with HEADER_ROOM before it.
   */
  readonly inflate: (input: Uint8Array, size: number) => Inflated | undefined
  readonly newlines: (content: Uint8Array) => number
}

type Place = { readonly value: number }

type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly INPUT: Place
  readonly INPUT_BYTES: Place
  readonly OUTPUT: Place
  readonly EXPANDED: Place
  readonly MOST_BYTES: Place
  readonly begin: () => void
  readonly deflate: (size: number) => number
  readonly inflate: (bytes: number, size: number) => number
  readonly newlines: (from: number, size: number) => number
}

/** They lead to each form of a block. */
const SAMPLES = [
  Buffer.from('a sample, a second sample,\nand a third one\n'.repeat(9)),
  Buffer.from(Array.from({ length: 200 }, (_, line) => `${line * line}\n`).join('')),
  Buffer.from('another'),
  Buffer.from(''),
  Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)),
]
const MORE = Buffer.from('more')

let ofThisThread: { readonly engine: ContentEngine | undefined } | undefined

/** One for each thread; undefined where there is none. */
export function contentEngine(): ContentEngine | undefined {
  ofThisThread ??= { engine: startEngine() }
  return ofThisThread.engine
}

export function startEngine(): ContentEngine | undefined {
  const made = exportsOf(CONTENT_PROGRAM)
  if (made === undefined) return undefined
  made.begin()
  const memory = Buffer.from(made.memory.buffer)
  const inputAt = made.INPUT.value
  const outputAt = made.OUTPUT.value
  const expandedAt = made.EXPANDED.value
  const mostStreamBytes = made.INPUT_BYTES.value
  const engine: ContentEngine = {
    mostBytes: made.MOST_BYTES.value,
    mostStreamBytes,
    deflate(content) {
      memory.set(content, inputAt)
      return memory.subarray(outputAt, outputAt + made.deflate(content.length))
    },
    inflate(input, size) {
      const bytes = Math.min(input.length, mostStreamBytes)
      memory.set(bytes < input.length ? input.subarray(0, bytes) : input, inputAt)
      const length = made.inflate(bytes, size)
      if (length < 0) return undefined
      return { content: memory.subarray(expandedAt, expandedAt + size), length }
    },
    newlines(content) {
      // What was just expanded need not be copied.
      if (content.buffer === memory.buffer) return made.newlines(content.byteOffset, content.length)
      memory.set(content, inputAt)
      return made.newlines(inputAt, content.length)
    },
  }
  return SAMPLES.every((sample) => isRightOf(engine, sample)) ? engine : undefined
}

function exportsOf(program: string): Exports | undefined {
  try {
    const module = new WebAssembly.Module(Buffer.from(program, 'base64'))
    return new WebAssembly.Instance(module).exports as Exports
  } catch {
    // No WebAssembly in this Node, none allowed here, or no room for it.
    return undefined
  }
}

function isRightOf(engine: ContentEngine, sample: Buffer): boolean {
  const lines = sample.toString('latin1').split('\n').length - 1
  const stream = Buffer.from(engine.deflate(sample))
  if (!inflateSync(stream).equals(sample) || engine.newlines(sample) !== lines) return false
  const inflated = engine.inflate(Buffer.concat([stream, MORE]), sample.length)
  if (inflated?.content.equals(sample) !== true || inflated.length !== stream.length) return false
  return (
    engine.newlines(inflated.content) === lines &&
    engine.inflate(stream.subarray(0, -1), sample.length) === undefined
  )
}
