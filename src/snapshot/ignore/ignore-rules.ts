// Decides whether a path is ignored, as git does. A save does this for every path, so ignore files are compiled once, and a
// folder shares the chain of its parent.

import { type BytePath, ROOT } from '../../model/index.js'
import { DEEP, FOLDERS, foldCase, type Glob, parseGlob, STAR } from './glob.js'
import { parseIgnoreFile } from './ignore-file.js'
import {
  type Query,
  newQuery,
  type Entry,
  indexRules,
  findLastMatch,
  type RuleIndex,
} from './rule-index.js'

/** The compiled rules of one ignore file. */
export type IgnoreList = {
  readonly base: BytePath
  /** Prepended to a path relative to `base`: the prefix and a slash, or nothing. */
  readonly lead: string
  readonly ignoreCase: boolean
  readonly names: RuleIndex
  readonly paths: RuleIndex
}

/** Lists from the highest precedence down, as a shared linked list: entering a folder adds one link. */
export type IgnoreChain = {
  readonly list: IgnoreList
  readonly lower: IgnoreChain | undefined
}

export type IgnoreListOptions = {
  readonly ignoreCase: boolean
  /** For a file in a folder above the chain's root: the path from that folder to `base`. */
  readonly prefix?: BytePath | undefined
}

export type Verdict = 'ignored' | 'included'

/** `text` is an ignore file, one character per byte; `base` is its folder, relative to the chain's root. */
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

/** Adds a list that takes precedence over all others. */
export function extend(chain: IgnoreChain | undefined, list: IgnoreList): IgnoreChain {
  return { list, lower: chain }
}

/** Joins two chains; the first takes precedence. */
export function joinChains(
  chain: IgnoreChain | undefined,
  lower: IgnoreChain | undefined,
): IgnoreChain | undefined {
  return chain === undefined ? lower : { list: chain.list, lower: joinChains(chain.lower, lower) }
}

/**
 * Decides one path, which must be inside the base of every list; `undefined` if no rule matches. As in git, no path inside
 * an ignored folder can be included again: the caller walks from the top and does not enter ignored folders. The root
 * itself is never ignored.
 */
export function findVerdict(
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

type Subject = { readonly path: string; readonly name: Query }

function subjectOf(path: string, isFolder: boolean): Subject {
  return { path, name: newQuery(path.slice(path.lastIndexOf('/') + 1), isFolder) }
}

function decide({ base, lead, names, paths }: IgnoreList, subject: Subject): Entry | undefined {
  const indexByName = names.size === 0 ? undefined : findLastMatch(names, subject.name)
  if (paths.size === 0) return indexByName
  const below = base === ROOT ? subject.path : subject.path.slice(base.length + 1)
  const byPath = findLastMatch(paths, newQuery(lead + below, subject.name.isFolder))
  if (indexByName === undefined || byPath === undefined) return indexByName ?? byPath
  return indexByName.order > byPath.order ? indexByName : byPath
}

// A leading **/ without another slash matches only the name, at any depth. A name contains no slash, so `*` may become `**`,
// and the index recognizes *.suffix.
function nameGlobOf({ steps, sets }: Glob): Glob | undefined {
  const rest = steps.subarray(1)
  if (steps[0] !== FOLDERS || rest.includes(SLASH)) return undefined
  return { steps: rest.map((step) => (step === STAR ? DEEP : step)), sets }
}

const SLASH = 0x2f
