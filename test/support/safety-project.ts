// A project for the tests of the safety invariants: a small size limit, and a way to act between plan and apply.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Project } from '../../src/index.js'
import { PlanClock } from './after-plan.js'
import type { Scratch } from './scratch.js'

export const MAX_FILE_BYTES = 1000
const clock = new PlanClock()

export async function openProject(s: Scratch): Promise<Project> {
  // Many small cases: none needs a thread to keep the event loop free.
  const limits = { maxFileBytes: MAX_FILE_BYTES }
  const store = await s.open({ inProcess: true, limits, clock })
  return store.project(s.project)
}

/** Rewinds, and calls `act` after the plan and before the first change. Returns the error code of a failed rewind. */
export async function rewindWhile(
  project: Project,
  to: string,
  act: () => void,
): Promise<{ readonly applied: boolean; readonly code?: unknown }> {
  clock.afterPlan(act)
  return project.rewind(to).then(
    ({ applied }) => ({ applied }),
    (error: unknown) => ({ applied: false, code: codeOf(error) }),
  )
}

export function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : `no code: ${String(error)}`
}

/** Whether a checkpoint has this content at a path. */
export async function isSaved(
  s: Scratch,
  project: Project,
  { path, content }: { readonly path: string; readonly content: string },
): Promise<boolean> {
  const checkpoints = await project.list()
  for (const { id } of checkpoints) {
    const { commit } = await project.show(id)
    const gitDir = `--git-dir=${join(s.home, 'objects.git')}`
    const blob = spawnSync('git', [gitDir, 'cat-file', 'blob', `${commit}:files/${path}`])
    if (blob.status === 0 && blob.stdout.toString() === content) return true
  }
  return false
}
