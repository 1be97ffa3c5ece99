// The part of a rewind, undo or redo that writes: apply → verify, repeated while other programs change the same paths.
// Recovery finishes interrupted work with the same steps (I3, I6).
import {
  type BytePath,
  changesNothing,
  pathText,
  type PlannedWrite,
  printablePath,
  type Project,
  type RestorePlan,
  sameEntry,
} from '../../model/index.js'
import type { Aside, Captured, NamedPaths, PartialMode } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { captureNow } from '../checkpoints/capture.js'
import type { PlanView } from '../checkpoints/views.js'
import type { Callbacks } from '../operation/callbacks.js'
import type { StoreContext } from '../operation/context.js'
import { removeAsides } from './remove-asides.js'
import { disturbedError, replacedError } from './restore-errors.js'
import { readRootInode, stagingFolders, type StartedRestore } from './restore-journal.js'
import { saveDuringRestore } from './restore-record.js'

const ROUNDS = 3

/** Modes and owners that could not be restored completely. The rewind continues without them, and reports them. */
type PartialModes = ReadonlyMap<BytePath, PartialMode>

/** Applies the plan and captures again; repeats that while other programs write to the same paths. */
export async function applyRestore(
  context: StoreContext,
  project: Project,
  work: StartedRestore & {
    readonly plan: RestorePlan
    /** The operation changes no other path, also when it plans again after the first round. */
    readonly only: readonly BytePath[]
    readonly named: NamedPaths
  },
): Promise<{ readonly after: Captured; readonly partial: PartialModes }> {
  const { snapshots } = context
  const { journal, safety, callbacks, only, named } = work
  const { operation: tag, goal, ownersThen, rootInode, entries } = journal
  const sweep = stagingFolders(entries)
  const partial = new Map<BytePath, PartialMode>()
  const asides: Aside[] = []
  let { plan } = work
  for (let round = 1; ; round++) {
    failpoint('restore:journaled')
    const request = { plan, tag, sweep, ownersThen }
    const done = await snapshots.apply(project, request, callbacks.onProgress)
    for (const each of done.partialModes) partial.set(each.path, each)
    asides.push(...done.asides)
    failpoint('restore:applied')
    const after = await captureNow(context, project, { named, callbacks })
    if (readRootInode(project) !== rootInode) throw replacedError(project, safety)
    const now = after.snapshot.tree
    const rest = await snapshots.plan(project, { goal, paths: undefined, only, now })
    // Drop the writes that would only set a partial mode again.
    plan = { ...rest, write: rest.write.filter((it) => !isLeft(it, partial.get(it.path))) }
    if (changesNothing(plan) && plan.conflict.length === 0) {
      await removeAsides(context, project, { ...work, asides })
      reportPartialModes(partial, callbacks)
      return { after, partial }
    }
    if (round === ROUNDS || plan.conflict.length > 0)
      throw disturbedError(plan, { safety, request: journal })
    // Save changes that other programs made meanwhile before they are overwritten (I3).
    await saveDuringRestore(context, project, { captured: after, ...work })
  }
}

function isLeft({ from, to }: PlannedWrite, partial: PartialMode | undefined): boolean {
  if (partial === undefined || from === undefined) return false
  if (from.type === 'link' || to.type === 'link' || from.mode !== partial.mode) return false
  return to.mode === partial.wanted && sameEntry({ ...from, mode: to.mode }, to)
}

/** Adds partial modes to the entries that the rewind leaves as they are. */
export function withPartial(view: PlanView, partial: PartialModes): PlanView {
  const left = [...partial.values()].map((each) => ({
    path: pathText(each.path),
    reason: describeMode(each),
  }))
  return { ...view, keep: [...view.keep, ...left] }
}

/** Reports each path, but entries with an unknown owner only once with their number. */
function reportPartialModes(partial: PartialModes, callbacks: Callbacks): void {
  const all = [...partial.values()]
  const [first, ...others] = all.filter(({ why }) => why === 'unknown-owner')
  for (const each of all.filter((one) => one === first || !others.includes(one))) {
    const more = each === first && others.length > 0 ? ` (and ${others.length} more)` : ''
    callbacks.onWarning?.(`${printablePath(each.path) || '.'}${more}: ${describeMode(each)}.`)
  }
}

function describeMode({ wanted, mode, why }: PartialMode): string {
  const modes = `mode is ${octal(mode)}, was ${octal(wanted)}`
  if (why === 'system') return `${modes}; the system does not let you set it`
  if (why === 'owner')
    return `${modes}; setuid and setgid are restored only for the owner they were saved with`
  const isLess = mode === wanted ? '' : `, and its ${modes}`
  return `belongs to root${isLess}: its owner is not recorded, or cannot be restored`
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}
