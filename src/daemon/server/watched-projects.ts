// The projects that the daemon watches. Releases those that were not used for a while, and the oldest above the limit.
import type { Project } from '../../internal.js'

const SHED_AFTER_MS = 10 * 60_000
/** Each costs some megabytes, and a watch for every folder in it. */
const MAX_WATCHED = 16

type ProjectUse = { readonly path: string; readonly usedAt: string }

export class WatchedProjects {
  /** In order of last use. */
  readonly #uses = new Map<string, { readonly project: Project; readonly atMs: number }>()

  /** From its next save on, only changed files are scanned. */
  watch(project: Project): Project {
    project.watch()
    this.#uses.delete(project.path)
    this.#uses.set(project.path, { project, atMs: Date.now() })
    return project
  }

  async shed(nowMs: number): Promise<void> {
    const surplus = this.#uses.size - MAX_WATCHED
    for (const [index, [path, use]] of [...this.#uses].entries()) {
      const isShed = index < surplus || nowMs - use.atMs >= SHED_AFTER_MS
      // Another caller may have watched it again meanwhile.
      if (isShed && (await use.project.internals.unload()) && this.#uses.get(path) === use)
        this.#uses.delete(path)
    }
  }

  /** Last used first. */
  get uses(): readonly ProjectUse[] {
    return [...this.#uses]
      .reverse()
      .map(([path, { atMs }]) => ({ path, usedAt: new Date(atMs).toISOString() }))
  }
}
