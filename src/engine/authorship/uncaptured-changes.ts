// Detects changes of files that no checkpoint contains: ignored, secret or too large. The hooks of an agent report the
// events around each tool call; a file that differs between the scan before and the scan after a call was changed while
// the call ran. It cannot be restored, so the checkpoint lists it. See docs/guide/coding-agents.md#changes-that-cannot-be-taken-back.
import {
  printablePath,
  type Project,
  type UncapturedChange,
  type UncapturedChanges,
} from '../../model/index.js'
import {
  type Captured,
  compareSkipped,
  hasEntry,
  printSkipped,
  type SkippedPrint,
  type SkippedPrints,
} from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import { changeNote, readNote } from '../store/kv-notes.js'

/**
 * `after-calls`: calls have run since the last scan. `between-calls`: none has, so another program made the changes.
 * `forget`: the user may have made them.
 */
type UncapturedMode = 'after-calls' | 'between-calls' | 'forget'

type UncapturedScan = {
  readonly changes: readonly UncapturedChange[]
  /** Call it once the checkpoint exists, or none is needed: the next scan compares with this one. */
  readonly remember: () => void
}

/** The stored result of the last scan. */
type Known = SkippedPrints & {
  /** How often a path changed while no call ran. */
  readonly noise: ReadonlyMap<string, number>
}

/** A path that changed this often between calls is written by another program, such as a log. */
const NOISY = 2
const KEEP_DAYS = 7

/** The caller holds the project's lock and has just captured the folder. */
export function scanUncaptured(
  context: StoreContext,
  project: Project,
  { captured, mode }: { readonly captured: Captured; readonly mode: UncapturedMode | undefined },
): UncapturedScan {
  // A caller that does not report tool calls gives us no call to attribute the changes to.
  if (mode === undefined) return { changes: [], remember: () => undefined }
  const key = `uncaptured:${project.id}`
  const stored = readNote(context, key)
  const known = stored === undefined ? undefined : parseKnown(stored)
  const now = printSkipped(project.path, captured.snapshot.skippedPaths)
  const differing = known === undefined ? [] : findDifferences(project, known, now)
  const noise = mode === 'between-calls' ? addNoise(known, differing) : (known?.noise ?? NONE)
  const text = serialize(now, noise)
  return {
    changes:
      mode === 'after-calls' ? differing.filter(({ path }) => (noise.get(path) ?? 0) < NOISY) : [],
    remember() {
      if (text === stored) return
      // If this write is lost, the next scan has nothing to compare with, or reports a change twice.
      changeNote(context, { key, keepDays: KEEP_DAYS, mayBeLost: true, change: () => text })
    },
  }
}

const NONE: ReadonlyMap<string, number> = new Map()

function findDifferences(
  project: Project,
  known: SkippedPrints,
  now: SkippedPrints,
): readonly UncapturedChange[] {
  const before = new Map(known.prints.map((one) => [one.path, one.print]))
  const present = new Set(now.prints.map(({ path }) => path))
  const last = known.prints.at(-1)
  // The list is cut off after the last known entry, so entries after it may have existed.
  const isNew = (one: SkippedPrint) =>
    known.isComplete || (last !== undefined && compareSkipped(one, last) < 0)
  const changed = now.prints.filter((one) => {
    const old = before.get(one.path)
    return old === undefined ? isNew(one) : old !== one.print
  })
  // An entry that is captured now, or was pushed out of the list by others, still exists.
  const removed = known.prints.filter(
    ({ path }) => !present.has(path) && !hasEntry(project.path, path),
  )
  return [
    ...changed.map((one) => toChange(one, before.has(one.path) ? 'changed' : 'added')),
    ...removed.map((one) => toChange(one, 'removed')),
  ]
}

function toChange(
  { path, reason, isFolder }: SkippedPrint,
  change: UncapturedChange['change'],
): UncapturedChange {
  return { path, reason, isFolder, change }
}

function addNoise(
  known: Known | undefined,
  differing: readonly UncapturedChange[],
): ReadonlyMap<string, number> {
  const noise = new Map(known?.noise)
  for (const { path } of differing) noise.set(path, Math.min(NOISY, (noise.get(path) ?? 0) + 1))
  return noise
}

function serialize({ prints, isComplete }: SkippedPrints, noise: Known['noise']): string {
  return JSON.stringify({ version: VERSION, prints, isComplete, noise: [...noise] })
}

const VERSION = 1

/** Returns undefined for a note of another version. */
function parseKnown(text: string): Known | undefined {
  const stored = JSON.parse(text) as SkippedPrints & {
    readonly version: number
    readonly noise: readonly (readonly [string, number])[]
  }
  return stored.version === VERSION ? { ...stored, noise: new Map(stored.noise) } : undefined
}

const MAX_NAMED = 3

/** The reason of a checkpoint without other changes: `Bash: make (changed only ignored files: .env, dist/)`. */
export function onlyUncapturedText({ by, changes }: UncapturedChanges): string {
  const isIgnored = changes.every(({ reason }) => reason !== 'too-large')
  const more = changes.length - MAX_NAMED
  const names = changes.slice(0, MAX_NAMED).map(printEntry)
  const rest = more > 0 ? ` and ${more} more` : ''
  const what = isIgnored ? 'ignored files' : 'files that are not saved'
  return `${by} (changed only ${what}: ${names.join(', ')}${rest})`
}

function printEntry({ path, isFolder }: Pick<UncapturedChange, 'path' | 'isFolder'>): string {
  return `${printablePath(path)}${isFolder ? '/' : ''}`
}
