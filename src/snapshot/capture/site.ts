// The fixed facts of one project that every capture of it needs.
import type { BytePath, Limits } from '../../model/index.js'

export type Site = {
  /** Absolute, one character per byte. */
  readonly root: BytePath
  /** The store's own folder, absolute; never captured. */
  readonly home: BytePath
  readonly limits: Limits
  readonly ignoreCase: boolean
}

export function absolute(site: { readonly root: BytePath }, path: BytePath): BytePath {
  if (path === '') return site.root
  return (site.root === '/' ? `/${path}` : `${site.root}/${path}`) as BytePath
}

/** Temporary files of a rewind; see restore/apply.ts. */
export const TEMPORARY_PREFIX = '.savestate-tmp-'
