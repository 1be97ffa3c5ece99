// Decides whether one path is ignored, as git would. A save asks this for every path it meets, so
// files are compiled once and folders share the chain of the folder they are in.

import { type BytePath, ROOT } from '../../model/index.js'
import { DEEP, FOLDERS, foldCase, type Glob, parseGlob, STAR } from './glob.js'
import { parseIgnoreFile } from './ignore-file.js'
import {
  type Asked,
  askedOf,
  type Entry,
  indexRules,
  lastMatch,
  type RuleIndex,
} from './rule-index.js'

/** The compiled rules of one ignore file. */
export type IgnoreList = {
  readonly base: BytePath
  /** What comes before a path from `base`: the prefix and a slash, or nothing. */
  readonly lead: string
  readonly ignoreCase: boolean
  readonly names: RuleIndex
  readonly paths: RuleIndex
}

/** Lists from the highest precedence down. Shared freely: entering a folder adds one link. */
export type IgnoreChain = {
  readonly list: IgnoreList
  readonly lower: IgnoreChain | undefined
}

export type IgnoreListOptions = {
  readonly ignoreCase: boolean
  /** For a file in a folder above the chain's root: the way from that folder down to `base`. */
  readonly prefix?: BytePath | undefined
}

export type Verdict = 'ignored' | 'included'

/** `text` is an ignore file, one character per byte; `base` is its folder, from the chain's root. */
export function compileIgnoreList(
  text: string,
  base: BytePath,
  { ignoreCase, prefix = ROOT }: IgnoreListOptions,
): IgnoreList {
  const names: { entry: Entry; glob: Glob }[] = []
  const paths: { entry: Entry; glob: Glob }[] = []
  for (const [order, rule] of parseIgnoreFile(text).entries()) {
    const glob = parseGlob(rule.glob, { pathname: rule.isAnchored, ignoreCase })
    if (glob === undefined) continue
    const entry = { order, isNegated: rule.isNegated, isFolderOnly: rule.isFolderOnly }
    const nameGlob = rule.isAnchored ? nameGlobOf(glob) : glob
    if (nameGlob === undefined) paths.push({ entry, glob })
    else names.push({ entry, glob: nameGlob })
  }
  const lead = prefix === ROOT ? '' : `${ignoreCase ? foldCase(prefix) : prefix}/`
  return { base, lead, ignoreCase, names: indexRules(names), paths: indexRules(paths) }
}

/** The chain with one more list, which takes precedence over all that were there. */
export function extend(chain: IgnoreChain | undefined, list: IgnoreList): IgnoreChain {
  return { list, lower: chain }
}

/** Both chains as one: the first takes precedence over all of the other. */
export function joined(
  chain: IgnoreChain | undefined,
  lower: IgnoreChain | undefined,
): IgnoreChain | undefined {
  return chain === undefined ? lower : { list: chain.list, lower: joined(chain.lower, lower) }
}

/**
 * What the rules say of this one path, which must lie inside the base of every list; `undefined`
 * when no rule matches. As in git, nothing can be included again inside an ignored folder: the
 * caller walks from the top and does not descend into one. The root itself is never ignored.
 */
export function verdict(
  chain: IgnoreChain | undefined,
  path: BytePath,
  isFolder: boolean,
): Verdict | undefined {
  if (path === ROOT) return undefined
  let exact: Subject | undefined
  let folded: Subject | undefined
  for (let link = chain; link !== undefined; link = link.lower) {
    const subject = link.list.ignoreCase
      ? (folded ??= subjectOf(foldCase(path), isFolder))
      : (exact ??= subjectOf(path, isFolder))
    const entry = decide(link.list, subject)
    if (entry !== undefined) return entry.isNegated ? 'included' : 'ignored'
  }
  return undefined
}

type Subject = { readonly path: string; readonly name: Asked }

function subjectOf(path: string, isFolder: boolean): Subject {
  return { path, name: askedOf(path.slice(path.lastIndexOf('/') + 1), isFolder) }
}

function decide({ base, lead, names, paths }: IgnoreList, subject: Subject): Entry | undefined {
  const byName = names.size === 0 ? undefined : lastMatch(names, subject.name)
  if (paths.size === 0) return byName
  const below = base === ROOT ? subject.path : subject.path.slice(base.length + 1)
  const byPath = lastMatch(paths, askedOf(lead + below, subject.name.isFolder))
  if (byName === undefined || byPath === undefined) return byName ?? byPath
  return byName.order > byPath.order ? byName : byPath
}

// A leading **/ with no slash after it asks for nothing but the name, at any depth. A name has no
// slash for a star to stop at, so its stars may as well cross them, and *.suffix is seen as such.
function nameGlobOf({ steps, sets }: Glob): Glob | undefined {
  const rest = steps.subarray(1)
  if (steps[0] !== FOLDERS || rest.includes(SLASH)) return undefined
  return { steps: rest.map((step) => (step === STAR ? DEEP : step)), sets }
}

const SLASH = 0x2f
