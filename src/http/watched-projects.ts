// The projects that the daemon watches. What nobody has asked for in a while is let go.
import type { Project } from '../index.js'

const SHED_AFTER_MS = 10 * 60_000

export type ProjectUse = { readonly path: string; readonly usedAt: string }

export class WatchedProjects {
  readonly #uses = new Map<string, { readonly project: Project; readonly atMs: number }>()

  /** From its next save on only what was touched is looked at. */
  watch(project: Project): Project {
    project.watch()
    this.#uses.set(project.path, { project, atMs: Date.now() })
    return project
  }

  async shed(nowMs: number): Promise<void> {
    for (const [path, { project, atMs }] of this.#uses) {
      if (nowMs - atMs >= SHED_AFTER_MS && (await project.letGo())) this.#uses.delete(path)
    }
  }

  /** Last used first. */
  get uses(): readonly ProjectUse[] {
    return [...this.#uses]
      .sort(([, a], [, b]) => b.atMs - a.atMs)
      .map(([path, { atMs }]) => ({ path, usedAt: new Date(atMs).toISOString() }))
  }
}
