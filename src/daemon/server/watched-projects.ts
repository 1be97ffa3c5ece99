// The projects that the daemon watches. What nobody has asked for in a while is let go, and what is too much.
import type { Project } from '../../internal.js'

const SHED_AFTER_MS = 10 * 60_000
/** Some megabytes each, and a watch for every folder in them. */
const MAX_WATCHED = 16

export type ProjectUse = { readonly path: string; readonly usedAt: string }

export class WatchedProjects {
  /** Last used comes last. */
  readonly #uses = new Map<string, { readonly project: Project; readonly atMs: number }>()

  /** From its next save on only what was touched is looked at. */
  watch(project: Project): Project {
    project.watch()
    this.#uses.delete(project.path)
    this.#uses.set(project.path, { project, atMs: Date.now() })
    return project
  }

  async shed(nowMs: number): Promise<void> {
    const surplus = this.#uses.size - MAX_WATCHED
    for (const [place, [path, use]] of [...this.#uses].entries()) {
      const isShed = place < surplus || nowMs - use.atMs >= SHED_AFTER_MS
      // Somebody may have asked for it meanwhile, and had it watched again.
      if (isShed && (await use.project.unload()) && this.#uses.get(path) === use)
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
