// The project folder that a capture reads, the result of a capture, and the names that a rewind reserves in the folder.
import type { BytePath, CaptureLimits, ObjectId, Snapshot } from '../../model/index.js'
import type { OnProgress } from './progress.js'

export type CaptureTarget = {
  /** Absolute, one character per byte. */
  readonly root: BytePath
  /** The store's folder, absolute; never captured. */
  readonly home: BytePath
  readonly limits: CaptureLimits
  readonly ignoreCase: boolean
  /** The tag of the current rewind: files that it moved aside are not part of the folder. */
  readonly rewinding?: string | undefined
}

export type CaptureWork = {
  /** Snapshots of the project's newest checkpoints: their objects are in the store. */
  readonly knownTrees: readonly ObjectId[]
  /** A few new objects are kept for `takeDeferred` instead of being written. */
  readonly deferObjects: boolean
  readonly report: OnProgress
}

export type Captured = {
  readonly snapshot: Snapshot
  /** Lines of all files, if every file was read in this process. */
  readonly lines: number | undefined
}

export function absolute(target: Pick<CaptureTarget, 'root'>, path: BytePath): BytePath {
  if (path === '') return target.root
  return (target.root === '/' ? `/${path}` : `${target.root}/${path}`) as BytePath
}

/** The name of a temporary file of a rewind. */
export function temporaryName(tag: string, number: number): string {
  return `${temporaryPrefix(tag)}${number}`
}

export function temporaryPrefix(tag: string): string {
  return `.savestate-tmp-${tag}-`
}

/** The name of a user's file that a rewind moved aside; `hash` is the hash of its path. */
export function asideName(
  tag: string,
  { hash, number }: { readonly hash: string; readonly number: number },
): string {
  return `${asidePrefix(tag)}${hash}-${number}`
}

export function asidePrefix(tag: string): string {
  return `.savestate-old-${tag}-`
}

/** Names that a rewind reserves; they are never captured. */
export function isTemporaryName(name: string): boolean {
  return /^\.savestate-(?:tmp-[a-z]{18}|old-[a-z]{18}-[0-9a-f]{12})-[0-9]+$/.test(name)
}
