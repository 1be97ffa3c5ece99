// The remotes of remotes.json by the ids that they gave themselves: where the files of a checkpoint are that was not made here. A remote
// is opened on first use, and stays open with the store.
import type { Remote } from '../../remote/index.js'
import { openEntry } from './named-remote.js'
import { readRemotes } from './remotes-file.js'

export class KnownRemotes {
  readonly #home: string
  readonly #opened = new Map<string, Promise<Remote>>()

  constructor(home: string) {
    this.#home = home
  }

  /** Undefined if no remote has this id. */
  async open(id: string): Promise<Remote | undefined> {
    const entry = readRemotes(this.#home).find((it) => it.id === id)
    if (entry === undefined) return undefined
    const known = this.#opened.get(id)
    if (known !== undefined) return known
    const opening = openEntry(this.#home, entry)
    this.#opened.set(id, opening)
    // The next call tries again.
    opening.catch(() => this.#opened.delete(id))
    return opening
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#opened.values())
    for (const one of opened) if (one.status === 'fulfilled') await one.value.close()
  }
}
