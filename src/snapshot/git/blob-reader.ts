// Reads objects through one `git cat-file --batch` that stays open: starting git for each would cost a hundred times more. Large
// objects are streamed in chunks.
//
// git sends all bytes of a loose blob, whatever size its header claims, and then waits for the next request. So each request is
// followed by one for a name that cannot exist: the answer to it marks the end of the object.
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { hasCode, isError, type ObjectId, SavestateError } from '../../model/index.js'
import { gitFault, setAwaited, startFault, startGit } from './git-program.js'

export type Receiver = { start(size: number): void; chunk(bytes: Buffer): void }

/** Only the last messages matter: they say why git exited. */
const MAX_COMPLAINTS = 2000

/** Random, so that no object contains it. It starts with a character that refs cannot contain, so git does not look it up. */
const END = `?${randomBytes(16).toString('hex')}`
const END_LINE = `${END} missing`
const END_BYTES = Buffer.from(`${END_LINE}\n`)
const NEWLINE = 10

type Request = {
  readonly id: ObjectId
  readonly receiver: Receiver
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

type ReaderOptions = {
  readonly objects?: string | undefined
  readonly headersOnly?: boolean
}

export class BlobReader {
  readonly #gitDir: string
  readonly #objects: string | undefined
  readonly #headersOnly: boolean
  #child: ChildProcessWithoutNullStreams | undefined
  #requests: Request[] = []
  #head: Buffer = Buffer.alloc(0)
  /** Bytes of the current object still to come, including the newline after it; undefined between objects. */
  #left: number | undefined
  #tail: Buffer = Buffer.alloc(0)
  /** The object was too short, and the rest of the end line is still to come. */
  #isInEnd = false

  /** `objects`: read this objects folder instead of the repository's own. `headersOnly`: receivers get no chunks. */
  constructor(gitDir: string, { objects, headersOnly = false }: ReaderOptions = {}) {
    this.#gitDir = gitDir
    this.#objects = objects
    this.#headersOnly = headersOnly
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
    const child = startGit(
      this.#gitDir,
      ['cat-file', this.#headersOnly ? '--batch-check' : '--batch'],
      { objects: this.#objects },
    )
    const fail = (error: Error) => {
      // A closed child must not affect the requests of its successor.
      if (this.#child !== child) return
      this.#child = undefined
      for (const { reject } of this.#requests.splice(0)) reject(error)
      setAwaited(child, false)
      this.#left = undefined
      this.#isInEnd = false
      this.#head = Buffer.alloc(0)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      if (this.#child === child) this.#receive(chunk)
    })
    // Always read stderr: git blocks if its messages are not consumed, and it prints one per damaged object.
    let complaints = ''
    child.stderr.on('data', (chunk: Buffer) => {
      complaints = (complaints + chunk.toString()).slice(-MAX_COMPLAINTS)
    })
    // EPIPE: git has exited, and the `close` event reports why.
    child.stdin.on('error', (error) => {
      if (!hasCode(error, 'EPIPE')) fail(error)
    })
    child.on('error', (error) => fail(startFault(error)))
    child.on('close', (status) =>
      fail(gitFault(['cat-file'], `it ended with ${status}. ${complaints}`.trimEnd())),
    )
    return child
  }

  #shift(): Request | undefined {
    const request = this.#requests.shift()
    if (this.#requests.length === 0 && this.#child !== undefined) setAwaited(this.#child, false)
    return request
  }

  #receive(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0) {
      rest =
        this.#left === undefined ? this.#receiveHead(rest) : this.#receiveBody(rest, this.#left)
    }
  }

  #receiveHead(chunk: Buffer): Buffer {
    const end = chunk.indexOf(NEWLINE)
    if (end === -1) {
      this.#head = Buffer.concat([this.#head, chunk])
      return Buffer.alloc(0)
    }
    const line = Buffer.concat([this.#head, chunk.subarray(0, end)]).toString('latin1')
    this.#head = Buffer.alloc(0)
    this.#receiveLine(line)
    return chunk.subarray(end + 1)
  }

  #receiveLine(line: string): void {
    const size = / (?:blob|tree|commit|tag) ([0-9]+)$/.exec(line)?.[1]
    if (line === END_LINE || this.#isInEnd) {
      this.#isInEnd = false
      // No effect if it was already rejected.
      this.#shift()?.resolve()
    } else if (size === undefined) {
      this.#requests[0]?.reject(missingObject(line))
    } else {
      this.#deliver((receiver) => receiver.start(Number(size)))
      if (!this.#headersOnly) this.#left = Number(size) + 1
      this.#tail = Buffer.alloc(0)
    }
  }

  #receiveBody(chunk: Buffer, left: number): Buffer {
    const part = chunk.subarray(0, Math.min(chunk.length, left))
    const content = part.length === left ? part.subarray(0, -1) : part
    if (content.length > 0) this.#deliver((receiver) => receiver.chunk(content))
    this.#left = left === part.length ? undefined : left - part.length
    const seen = Buffer.concat([this.#tail, part])
    const at = seen.indexOf(END_BYTES)
    const isCut = this.#left === undefined && seen.at(-1) !== NEWLINE
    if (at !== -1 || isCut) this.#requests[0]?.reject(shortObject(this.#requests[0].id))
    if (at !== -1) {
      this.#left = undefined
      this.#shift()
      return chunk.subarray(at + END_BYTES.length - this.#tail.length)
    }
    this.#isInEnd = isCut
    this.#tail = seen.subarray(-END_BYTES.length)
    return chunk.subarray(part.length)
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

function shortObject(id: ObjectId): SavestateError {
  return new SavestateError('STORE_DAMAGED', `Object ${id} is shorter than its header claims`, {
    hint: 'Run `savestate verify` to see which checkpoints are affected.',
  })
}

function missingObject(line: string): SavestateError {
  return new SavestateError('STORE_DAMAGED', `The store lacks an object: ${line.slice(0, 100)}`, {
    hint: 'Run `savestate verify` to see which checkpoints are affected.',
  })
}
