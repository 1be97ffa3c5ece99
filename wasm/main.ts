// What is done to the contents of files so often that it is worth a program of its own: compressing them, half as fast again as
// zlib at its fastest, expanding them, and counting their lines (docs/decisions/0026-own-compressor.md and
// 0027-own-inflater.md). AssemblyScript: `node scripts/wasm.mjs` makes src/snapshot/objects/content-program.ts of it.
// What is compressed or expanded goes to INPUT first.
import { beginDeflate } from './deflate'
import { beginInflate } from './inflate'

export { deflate } from './deflate'
export { inflate } from './inflate'
export { newlines } from './lines'
export { EXPANDED, INPUT, INPUT_BYTES, MOST_BYTES, OUTPUT } from './places'

/** To be called once, before anything else. */
export function begin(): void {
  beginDeflate()
  beginInflate()
}
