// A second process that edits the folder: on request, and while the program under test runs.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { applyBeside, type Edit } from './edits.js'

type Request = { readonly folder: string; readonly edits: readonly Edit[] }

/** The child runs the same bundle with a special argument. */
const CHILD_MARK = '--savestate-editor'

export function isEditorProcess(): boolean {
  return process.argv.includes(CHILD_MARK)
}

export function runEditorProcess(): void {
  process.on('message', ({ folder, edits }: Request) => {
    for (const edit of edits) applyBeside(folder, edit)
    process.send?.('done')
  })
}

export class Editor {
  readonly #child: ChildProcess

  constructor(entry: URL) {
    this.#child = fork(fileURLToPath(entry), [CHILD_MARK], { execArgv: [] })
  }

  /** Resolves when all edits are made. */
  async apply(folder: string, edits: readonly Edit[]): Promise<void> {
    this.#child.send({ folder, edits } satisfies Request)
    const waiting = new AbortController()
    const { signal } = waiting
    const ended = once(this.#child, 'exit', { signal }).then(([code]) => {
      throw new Error(`The editor ended with ${String(code)}`)
    })
    try {
      await Promise.race([once(this.#child, 'message', { signal }), ended])
    } finally {
      ended.catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
      waiting.abort()
    }
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}
