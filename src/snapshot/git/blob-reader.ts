// Reads objects through one `git cat-file --batch` that stays open: starting git for each would cost a hundred times more. Large
// objects are streamed in chunks.
//
// git sends all bytes of a loose blob, whatever size its header claims, and then waits for the next request. So each request is
// followed by one for a name that cannot exist: the answer to it marks the end of the object.
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { isError, type ObjectId, SavestateError } from '../../model/index.js'
import { setAwaited, startServingGit } from './git-program.js'

export type Receiver = { start(size: number): void; chunk(bytes: Buffer): void }

/** Random, so that no object contains it. It starts with a character that refs cannot contain, so git does not look it up. */
const END = `?${randomBytes(16).toString('hex')}`
const END_BYTES = Buffer.from(`${END} missing\n`)
const NEWLINE = 10
const NONE = Buffer.alloc(0)
const VERIFY = 'Run `savestate verify` to see which checkpoints are affected.'

type Request = {
  readonly id: ObjectId
  readonly receiver: Receiver
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

type ReaderOptions = { readonly objects?: string | undefined; readonly headersOnly?: boolean }

export class BlobReader {
  readonly #gitDir: string
  readonly #options: ReaderOptions
  #child: ChildProcessWithoutNullStreams | undefined
  #requests: Request[] = []
  /** Received, but not consumed: part of a header, or of the end of an answer. */
  #rest: Buffer = NONE
  /** Bytes of the current object still to come, with the newline after it; undefined before its header. */
  #left: number | undefined

  /** `objects`: read this objects folder instead of the repository's own. `headersOnly`: receivers get no chunks. */
  constructor(gitDir: string, options: ReaderOptions = {}) {
    this.#gitDir = gitDir
    this.#options = options
  }

  async read(id: ObjectId): Promise<Buffer> {
    const chunks: Buffer[] = []
    await this.stream(id, { start: () => chunks.splice(0), chunk: (bytes) => chunks.push(bytes) })
    return Buffer.concat(chunks)
  }

  /** The receiver may write synchronously; git then waits. If the receiver throws, the promise rejects. */
  stream(id: ObjectId, receiver: Receiver): Promise<void> {
    const child = (this.#child ??= this.#start())
    return new Promise((resolve, reject) => {
      this.#requests.push({ id, receiver, resolve, reject })
      setAwaited(child, true)
      child.stdin.write(`${id}\n${END}\n`)
    })
  }

  close(): void {
    this.#child?.stdin.end()
    this.#child = undefined
  }

  #start(): ChildProcessWithoutNullStreams {
    const { objects, headersOnly = false } = this.#options
    const args = ['cat-file', headersOnly ? '--batch-check' : '--batch']
    const child = startServingGit(this.#gitDir, {
      args,
      objects,
      onData: (chunk) => {
        if (this.#child === child) this.#receive(chunk)
      },
      onFail: (error) => {
        // A closed child must not affect the requests of its successor.
        if (this.#child !== child) return
        this.#child = undefined
        for (const { reject } of this.#requests.splice(0)) reject(error)
        setAwaited(child, false)
        this.#left = undefined
        this.#rest = NONE
      },
    })
    return child
  }

  #receive(chunk: Buffer): void {
    let bytes = Buffer.concat([this.#rest, chunk])
    for (let end = bytes.indexOf(END_BYTES); end !== -1; end = bytes.indexOf(END_BYTES)) {
      this.#consume(bytes.subarray(0, end))
      this.#finish()
      bytes = bytes.subarray(end + END_BYTES.length)
    }
    // The end may be split between two chunks.
    const certain = Math.max(0, bytes.length - END_BYTES.length + 1)
    const consumed = this.#consume(bytes.subarray(0, certain))
    this.#rest = bytes.subarray(consumed)
  }

  /** Returns how many bytes it has consumed: none before the header is complete. */
  #consume(bytes: Buffer): number {
    let body = bytes
    if (this.#left === undefined) {
      const end = bytes.indexOf(NEWLINE)
      if (end === -1) return 0
      this.#readHeader(bytes.latin1Slice(0, end))
      body = bytes.subarray(end + 1)
    }
    const left = this.#left ?? 0
    this.#left = left - body.length
    const content = body.subarray(0, Math.max(0, left - 1))
    if (content.length > 0) this.#deliver((receiver) => receiver.chunk(content))
    return bytes.length
  }

  #readHeader(line: string): void {
    const size = / (?:blob|tree|commit|tag) ([0-9]+)$/.exec(line)?.[1]
    this.#left = size === undefined || this.#options.headersOnly === true ? 0 : Number(size) + 1
    if (size === undefined) this.#requests[0]?.reject(missingObject(line))
    else this.#deliver((receiver) => receiver.start(Number(size)))
  }

  #finish(): void {
    const request = this.#requests.shift()
    if (this.#requests.length === 0 && this.#child !== undefined) setAwaited(this.#child, false)
    // The second of two results has no effect: a missing object was already rejected.
    if (this.#left === 0) request?.resolve()
    else request?.reject(wrongSize(request.id))
    this.#left = undefined
  }

  /** A receiver that has thrown gets no more chunks, but the rest of its object must still be consumed. */
  #deliver(give: (receiver: Receiver) => void): void {
    const request = this.#requests[0]
    if (request === undefined) return
    try {
      give(request.receiver)
    } catch (error) {
      request.reject(isError(error) ? error : new Error(String(error)))
      this.#requests[0] = {
        ...request,
        receiver: { start: () => undefined, chunk: () => undefined },
      }
    }
  }
}

function wrongSize(id: ObjectId): SavestateError {
  return new SavestateError(
    'STORE_DAMAGED',
    `Object ${id} does not have the size that its header claims`,
    {
      hint: VERIFY,
    },
  )
}

function missingObject(line: string): SavestateError {
  return new SavestateError('STORE_DAMAGED', `The store lacks an object: ${line.slice(0, 100)}`, {
    hint: VERIFY,
  })
}
