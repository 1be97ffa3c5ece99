// Decides whether a path is ignored, as git does. A save does this for every path, so ignore files are compiled once, and a
// folder shares the chain of its parent.

import { type BytePath, ROOT } from '../../model/index.js'
import { SLASH } from './byte-set.js'
import { DEEP, FOLDERS, foldCase, type Glob, parseGlob, STAR } from './glob.js'
import { parseIgnoreFile } from './ignore-file.js'
import { findLastMatch, indexRules, pickLater, type Rule, type RuleIndex } from './rule-index.js'

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
  const names: Rule[] = []
  const paths: Rule[] = []
  for (const [order, rule] of parseIgnoreFile(text).entries()) {
    const glob = parseGlob(rule.glob, { pathname: rule.isAnchored, ignoreCase })
    if (glob === undefined) continue
    const nameGlob = rule.isAnchored ? nameGlobOf(glob) : glob
    if (nameGlob === undefined) paths.push({ ...rule, order, glob })
    else names.push({ ...rule, order, glob: nameGlob })
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
  for (let link = chain; link !== undefined; link = link.lower) {
    const rule = findRule(link.list, link.list.ignoreCase ? foldCase(path) : path, isFolder)
    if (rule !== undefined) return rule.isNegated ? 'included' : 'ignored'
  }
  return undefined
}

function findRule(
  { base, lead, names, paths }: IgnoreList,
  path: string,
  isFolder: boolean,
): Rule | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const byName = names.size === 0 ? undefined : findLastMatch(names, name, isFolder)
  if (paths.size === 0) return byName
  const below = base === ROOT ? path : path.slice(base.length + 1)
  return pickLater(byName, findLastMatch(paths, lead + below, isFolder))
}

// A leading **/ without another slash matches only the name, at any depth. A name contains no slash, so `*` may become `**`,
// and the index recognizes *.suffix.
function nameGlobOf({ steps, sets }: Glob): Glob | undefined {
  const rest = steps.subarray(1)
  if (steps[0] !== FOLDERS || rest.includes(SLASH)) return undefined
  return { steps: rest.map((step) => (step === STAR ? DEEP : step)), sets }
}
