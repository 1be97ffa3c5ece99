// What is done to the contents of files so often that it is worth a program of its own: compressing them, half as fast again as
// zlib at its fastest, and counting their lines (docs/decisions/0026-own-compressor.md). AssemblyScript:
// `node scripts/wasm.mjs` makes src/snapshot/objects/content-program.ts of it. A content goes to INPUT first.
export { begin, deflate } from './deflate'
export { newlines } from './lines'
export { INPUT, MOST_BYTES, OUTPUT } from './places'
