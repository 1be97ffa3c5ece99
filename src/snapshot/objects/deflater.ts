// Compresses many small objects. `deflateSync` sets up a compressor for each, which costs as much as compressing a small file,
// and leaves a heap of garbage. This one is WebAssembly, made of wasm/: it is set up once, and half as fast again as zlib
// (docs/decisions/0026-own-compressor.md). Nothing rests on it: where it cannot run, or an object is large, zlib does the work.
import { deflateSync, inflateSync } from 'node:zlib'
import { DEFLATE_PROGRAM } from './deflate-program.js'

/** Of zlib, where it does the work. Level 6 takes twice the time for packs that are 4 % smaller: `disk-100-saves` in bench/. */
const LEVEL = 1
const SAMPLES = ['a sample, a second sample, and a third one '.repeat(9), 'another', ''].map(
  (text) => Buffer.from(text),
)

type Compressor = {
  readonly memory: Buffer
  readonly inputAt: number
  readonly outputAt: number
  readonly mostBytes: number
  /** Of so many bytes of input: how long the output is. */
  readonly deflate: (size: number) => number
}

export class Deflater {
  readonly #compressor: Compressor | undefined

  constructor() {
    const compressor = startCompressor()
    if (compressor !== undefined && isTrue(compressor)) this.#compressor = compressor
  }

  /** A zlib stream; valid until the next call. */
  deflate(content: Uint8Array): Uint8Array {
    const compressor = this.#compressor
    return compressor === undefined || content.length > compressor.mostBytes
      ? deflateSync(content, { level: LEVEL })
      : deflateWith(compressor, content)
  }
}

function deflateWith(compressor: Compressor, content: Uint8Array): Uint8Array {
  const { memory, inputAt, outputAt } = compressor
  memory.set(content, inputAt)
  return memory.subarray(outputAt, outputAt + compressor.deflate(content.length))
}

/** It gives back what it was given. */
function isTrue(compressor: Compressor): boolean {
  return SAMPLES.every((sample) => inflateSync(deflateWith(compressor, sample)).equals(sample))
}

type Exports = {
  readonly memory: { readonly buffer: ArrayBuffer }
  readonly INPUT: { readonly value: number }
  readonly OUTPUT: { readonly value: number }
  readonly MOST_BYTES: { readonly value: number }
  readonly begin: () => void
  readonly deflate: (size: number) => number
}

function startCompressor(): Compressor | undefined {
  let made: Exports
  try {
    const program = new WebAssembly.Module(Buffer.from(DEFLATE_PROGRAM, 'base64'))
    made = new WebAssembly.Instance(program).exports as Exports
  } catch {
    // No WebAssembly in this Node, none allowed here, or no room for it: zlib is always there.
    return undefined
  }
  made.begin()
  return {
    memory: Buffer.from(made.memory.buffer),
    inputAt: made.INPUT.value,
    outputAt: made.OUTPUT.value,
    mostBytes: made.MOST_BYTES.value,
    deflate: made.deflate,
  }
}
