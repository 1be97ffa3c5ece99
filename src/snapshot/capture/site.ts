// The fixed facts of one project that every capture of it needs.
import type { BytePath, CaptureLimits } from '../../model/index.js'

export type Site = {
  /** Absolute, one character per byte. */
  readonly root: BytePath
  /** The store's own folder, absolute; never captured. */
  readonly home: BytePath
  readonly limits: CaptureLimits
  readonly ignoreCase: boolean
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

export function isTemporaryName(name: string): boolean {
  return /^\.savestate-tmp-[a-z]{18}-[0-9]+$/.test(name)
}
