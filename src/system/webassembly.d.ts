// As much of it as is used: Node's types have none of it.
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module)
    readonly exports: { readonly memory: { readonly buffer: ArrayBuffer } }
  }
}
