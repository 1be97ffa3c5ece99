// The paths that a checkpoint left out. A file that exists now but not in the checkpoint may have existed then, ignored: a rewind
// must not treat it as new (I5). See docs/internals/rewind-and-rules.md.
import {
  type BytePath,
  type EffectiveRules,
  joinPath,
  MAX_SKIPPED_PATHS,
  parentOf,
  ROOT,
  type Skipped,
  type SkipReason,
} from '../../model/index.js'
import { readStable } from '../capture/hash/read-file.js'
import { IGNORE_FILES, Rules, rulesAround } from '../capture/scan/rules.js'
import { absolute, type CaptureTarget } from '../capture/capture-target.js'
import { enclosingRepository } from '../checkout/repository.js'
import type { Change } from '../compare/compare.js'
import type { BlobReader } from '../git/blob-reader.js'

export type UncapturedThen = (path: BytePath, isFolder: boolean) => string | undefined

type IgnoreFile = (typeof IGNORE_FILES)[number]

/** Reasons that come last in the list of skipped paths. Such paths are found by applying the rules. */
const BY_RULES: readonly SkipReason[] = ['ignored', 'vcs', 'temporary', 'store']

/** The record of a checkpoint about the paths that it left out. */
export type LeftOut = {
  readonly skipped: readonly Skipped[]
  /** Undefined for a checkpoint without recorded rules: then today's rules apply. */
  readonly rules: EffectiveRules | undefined
}

/** `changes` lead from the current folder to the checkpoint. */
export async function uncapturedThen(
  {
    project,
    changes,
    leftOut: { skipped, rules: recorded },
  }: {
    readonly project: CaptureTarget
    readonly changes: readonly Change[]
    readonly leftOut: LeftOut
  },
  blobs: BlobReader,
): Promise<UncapturedThen> {
  const skippedPaths = new Map(skipped.map(({ path, reason }) => [path, reason]))
  const isCut = isCutShort(skipped)
  const texts = await changedIgnoreFiles(changes, blobs)
  const excludes = new Map(recorded?.excludes.map(({ path, text }) => [path, text]))
  const rulesAt = new Map<BytePath, { rules: Rules; isIgnored: boolean }>()

  return (path, isFolder) => {
    for (let level = path; level !== ROOT; level = parentOf(level)) {
      const reason = skippedPaths.get(level)
      if (reason !== undefined) return `existed then but was not captured (${reason})`
    }
    if (isIgnored(path, isFolder)) return 'was ignored then'
    return isCut ? 'may have existed: not all paths that were skipped then are listed' : undefined
  }

  function isIgnored(path: BytePath, isFolder: boolean): boolean {
    const folder = inside(parentOf(path))
    if (folder.isIgnored || folder.rules.isIgnored(path, isFolder)) return true
    return !isFolder && folder.rules.namesSecret(path) && !folder.rules.allowsSecret(path)
  }

  function inside(folder: BytePath): { rules: Rules; isIgnored: boolean } {
    const known = rulesAt.get(folder)
    if (known !== undefined) return known
    const outer =
      folder === ROOT ? { rules: rulesAbove(), isIgnored: false } : inside(parentOf(folder))
    const found = {
      isIgnored: outer.isIgnored || (folder !== ROOT && outer.rules.isIgnored(folder, true)),
      rules: outer.rules.inside({
        path: folder,
        key: 'then',
        read: () => [
          { file: 'exclude', text: excludes.get(folder) ?? '' },
          ...IGNORE_FILES.map((file) => ({ file, text: textOf(folder, file) })),
        ],
      }),
    }
    rulesAt.set(folder, found)
    return found
  }

  function rulesAbove(): Rules {
    return recorded === undefined
      ? Rules.above(project, rulesAround(project, enclosingRepository(project.root)))
      : Rules.recorded(recorded)
  }

  function textOf(folder: BytePath, file: IgnoreFile): string {
    const path = joinPath(folder, file)
    const text = texts.get(path)
    if (text !== undefined) return text
    const read = readStable(absolute(project, path))
    return typeof read === 'string' ? '' : read.content.toString('latin1')
  }
}

/** True if the list is full before the reasons of BY_RULES: further skipped paths are unknown. */
function isCutShort(skipped: readonly Skipped[]): boolean {
  const last = skipped[MAX_SKIPPED_PATHS - 1]
  return last !== undefined && !BY_RULES.includes(last.reason)
}

/** The checkpoint's text of each ignore file that has changed since; empty if it had none. */
async function changedIgnoreFiles(
  changes: readonly Change[],
  blobs: BlobReader,
): Promise<Map<BytePath, string>> {
  const texts = new Map<BytePath, string>()
  for (const { path, after } of changes) {
    if (!IGNORE_FILES.some((name) => path === name || path.endsWith(`/${name}`))) continue
    texts.set(path, after?.type === 'file' ? (await blobs.read(after.blob)).toString('latin1') : '')
  }
  return texts
}
