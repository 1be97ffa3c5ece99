// The fixed facts of one project that every capture of it needs.
import type { BytePath, CaptureLimits } from '../../model/index.js'

export type Site = {
  /** Absolute, one character per byte. */
  readonly root: BytePath
  /** The store's own folder, absolute; never captured. */
  readonly home: BytePath
  readonly limits: CaptureLimits
  readonly ignoreCase: boolean
  /** The tag of a rewind that is under way: what it has moved aside is not part of the folder. */
  readonly rewinding?: string | undefined
}

export function absolute(site: { readonly root: BytePath }, path: BytePath): BytePath {
  if (path === '') return site.root
  return (site.root === '/' ? `/${path}` : `${site.root}/${path}`) as BytePath
}

/** The temporary files of a rewind have names that nobody else gives. */
export function temporaryName(tag: string, number: number): string {
  return `${temporaryPrefix(tag)}${number}`
}

export function temporaryPrefix(tag: string): string {
  return `.savestate-tmp-${tag}-`
}

/** A file of the user's that a rewind has moved aside; `hash` stands for its path. */
export function asideName(
  tag: string,
  { hash, number }: { readonly hash: string; readonly number: number },
): string {
  return `${asidePrefix(tag)}${hash}-${number}`
}

export function asidePrefix(tag: string): string {
  return `.savestate-old-${tag}-`
}

/** Names that a rewind reserves: they are never captured. */
export function isTemporaryName(name: string): boolean {
  return /^\.savestate-(?:tmp-[a-z]{18}|old-[a-z]{18}-[0-9a-f]{12})-[0-9]+$/.test(name)
}
