/** Addresses of built files, set by scripts/build-ui.mjs. */
declare const HIGHLIGHT_WORKER: string
declare const HIGHLIGHTS_WASM: string
