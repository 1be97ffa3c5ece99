// The program of wasm/, which compresses contents and counts their lines (docs/decisions/0026-own-compressor.md). Nothing
// rests on it: where it cannot run, Node does the work.
import { inflateSync } from 'node:zlib'
import { CONTENT_PROGRAM } from './content-program.js'

export type ContentEngine = {
  /** No content may have more. */
  readonly mostBytes: number
  /** A zlib stream; valid until the next call. */
  readonly deflate: (content: Uint8Array) => Uint8Array
  readonly newlines: (content: Uint8Array) => number
}

type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly INPUT: { readonly value: number }
  readonly OUTPUT: { readonly value: number }
  readonly MOST_BYTES: { readonly value: number }
  readonly begin: () => void
  readonly deflate: (size: number) => number
  readonly newlines: (size: number) => number
}

const SAMPLES = ['a sample, a second sample,\nand a third one\n'.repeat(9), 'another', ''].map(
  (text) => Buffer.from(text),
)

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
  const [inputAt, outputAt] = [made.INPUT.value, made.OUTPUT.value]
  const engine: ContentEngine = {
    mostBytes: made.MOST_BYTES.value,
    deflate(content) {
      memory.set(content, inputAt)
      return memory.subarray(outputAt, outputAt + made.deflate(content.length))
    },
    newlines(content) {
      memory.set(content, inputAt)
      return made.newlines(content.length)
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
  const lines = sample.toString().split('\n').length - 1
  return inflateSync(engine.deflate(sample)).equals(sample) && engine.newlines(sample) === lines
}
