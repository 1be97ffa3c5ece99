// Compresses many small objects. `deflateSync` sets up a compressor for each, which costs as much as compressing a small
// file, and leaves a heap of garbage; the engine is there once.
import { deflateSync } from 'node:zlib'
import { type ContentEngine, contentEngine } from './content-engine.js'

/** Where zlib does the work. Level 6 takes twice the time for packs that are 4 % smaller: `disk-100-saves` in bench/. */
const LEVEL = 1

/** A zlib stream; valid until the next call. */
export function deflated(content: Uint8Array): Uint8Array {
  return deflatedBy(contentEngine(), content)
}

/** Without an engine, and of what is too large for it, zlib makes it. */
export function deflatedBy(engine: ContentEngine | undefined, content: Uint8Array): Uint8Array {
  return engine === undefined || content.length > engine.mostBytes
    ? deflateSync(content, { level: LEVEL })
    : engine.deflate(content)
}
