// The projects that the daemon keeps ready. What nobody has asked for in a while is let go.
import type { Project, Store } from '../index.js'

const SHED_AFTER_MS = 10 * 60_000

export type ProjectUse = { readonly path: string; readonly usedAt: string }

export class WatchedProjects {
  readonly #store: Store
  readonly #usedAtMs = new Map<string, number>()

  constructor(store: Store) {
    this.#store = store
  }

  /** From now on a save of it looks only at what changed. */
  async watch({ path }: Project): Promise<Project> {
    this.#usedAtMs.set(path, Date.now())
    return beginWatch(this.#store, path)
  }

  shed(nowMs: number): void {
    for (const [path, usedAtMs] of this.#usedAtMs) {
      if (nowMs - usedAtMs < SHED_AFTER_MS) continue
      this.#usedAtMs.delete(path)
    }
  }

  /** Last used first. */
  get uses(): readonly ProjectUse[] {
    return [...this.#usedAtMs]
      .sort(([, a], [, b]) => b - a)
      .map(([path, ms]) => ({ path, usedAt: new Date(ms).toISOString() }))
  }
}

function beginWatch(store: Store, path: string): Promise<Project> {
  return store.project(path)
}
