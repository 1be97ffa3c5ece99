// Finds the last rule that matches a text without trying all rules. Plain text and `*.suffix` rules, which are most, are
// looked up in maps; a glob is tried only on a text that starts or ends with its byte. The result is the same as trying
// all: the last match in the file wins.

import { DEEP, END, type Glob, literalFrom, SET } from './glob.js'
import { matchGlob } from './wildmatch.js'

export type Entry = {
  /** The position of the rule in its file. */
  readonly order: number
  readonly isNegated: boolean
  readonly isFolderOnly: boolean
}

export type Query = {
  readonly text: string
  readonly isFolder: boolean
  /** The text from its last dot on, or ''; computed on demand. */
  ending: string | undefined
}

export function newQuery(text: string, isFolder: boolean): Query {
  return { text, isFolder, ending: undefined }
}

export type RuleIndex = {
  readonly size: number
  readonly literals: Buckets<string>
  /** True at every length of a literal: a length check avoids hashing a long text, which costs most. */
  readonly lengths: readonly (true | undefined)[]
  /** Suffixes with a dot, by their text from the last dot on. */
  readonly suffixes: Buckets<string>
  readonly byFirst: ByteTable
  readonly byLast: ByteTable
  readonly loose: readonly IndexedRule[]
}

/** `rules` must be in file order. */
export function indexRules(rules: readonly { entry: Entry; glob: Glob }[]): RuleIndex {
  const literals = new Map<string, IndexedRule[]>()
  const suffixes = new Map<string, IndexedRule[]>()
  const byFirst = new Map<number, IndexedRule[]>()
  const byLast = new Map<number, IndexedRule[]>()
  const loose: IndexedRule[] = []
  for (const { entry, glob } of rules) {
    const literal = literalFrom(glob, 0)
    const suffix = glob.steps[0] === DEEP ? literalFrom(glob, 1) : undefined
    const first = bytesOf(glob, 0)
    const last = bytesOf(glob, glob.steps.length - 2)
    const indexed = { ...entry, test: literal ?? suffix ?? glob }
    if (literal !== undefined) add(literals, literal, indexed)
    else if (suffix?.includes('.')) add(suffixes, suffix.slice(suffix.lastIndexOf('.')), indexed)
    else if (first !== undefined) for (const byte of first) add(byFirst, byte, indexed)
    else if (last !== undefined) for (const byte of last) add(byLast, byte, indexed)
    else loose.push(indexed)
  }
  return {
    size: rules.length,
    literals,
    lengths: lengthsOf(literals.keys()),
    suffixes,
    byFirst: toByteTable(byFirst),
    byLast: toByteTable(byLast),
    loose,
  }
}

/** The text must be folded if the globs are. */
export function findLastMatch(index: RuleIndex, query: Query): Entry | undefined {
  const { text } = query
  // Unrolled, with a cheap test before each step: most texts match no rule.
  let last: Entry | undefined
  if (index.lengths[text.length] === true) {
    const same = index.literals.get(text)
    if (same !== undefined) last = findLastIn(same, query)
  }
  if (index.suffixes.size > 0) {
    const alike = index.suffixes.get((query.ending ??= endingOf(text)))
    if (alike !== undefined) last = pickLater(last, findLastIn(alike, query))
  }
  const first = index.byFirst[text.charCodeAt(0)]
  if (first !== undefined) last = pickLater(last, findLastIn(first, query))
  const final = index.byLast[text.charCodeAt(text.length - 1)]
  if (final !== undefined) last = pickLater(last, findLastIn(final, query))
  return index.loose.length === 0 ? last : pickLater(last, findLastIn(index.loose, query))
}

function endingOf(text: string): string {
  const dot = text.lastIndexOf('.')
  return dot === -1 ? '' : text.slice(dot)
}

function lengthsOf(literals: Iterable<string>): (true | undefined)[] {
  const lengths: (true | undefined)[] = []
  for (const { length } of literals) {
    while (lengths.length <= length) lengths.push(undefined)
    lengths[length] = true
  }
  return lengths
}

/** `test`: the required end of the text, or the glob to match. */
type IndexedRule = Entry & { readonly test: string | Glob }

/** Each bucket is in file order. */
type Buckets<Key> = ReadonlyMap<Key, readonly IndexedRule[]>

/** Buckets by byte, in a plain array. */
type ByteTable = readonly (readonly IndexedRule[] | undefined)[]

function findLastIn(entries: readonly IndexedRule[], query: Query): Entry | undefined {
  const { text, isFolder } = query
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]
    if (entry === undefined || (entry.isFolderOnly && !isFolder)) continue
    const { test } = entry
    if (typeof test === 'string' ? text.endsWith(test) : matchGlob(test, text)) return entry
  }
  return undefined
}

function pickLater(one: Entry | undefined, other: Entry | undefined): Entry | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.order > other.order ? one : other
}

function add<Key>(buckets: Map<Key, IndexedRule[]>, key: Key, indexed: IndexedRule): void {
  const bucket = buckets.get(key)
  if (bucket === undefined) buckets.set(key, [indexed])
  else bucket.push(indexed)
}

/** The bytes a step accepts; `undefined` for a star. */
function bytesOf({ steps, sets }: Glob, at: number): number[] | undefined {
  const step = steps[at]
  if (step === undefined) return undefined
  if (step < END) return [step]
  const set = sets[step - SET]
  return set === undefined ? undefined : [...set.keys()].filter((byte) => set[byte] === 1)
}

function toByteTable(buckets: Buckets<number>): ByteTable {
  return buckets.size === 0 ? NOTHING : Array.from(NOTHING, (_, byte) => buckets.get(byte))
}

const NOTHING: ByteTable = Array.from({ length: 256 }, () => undefined)
