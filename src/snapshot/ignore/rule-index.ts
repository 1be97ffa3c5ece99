// Finds the last rule that matches a text without trying them all. Most rules are plain text or
// `*.suffix` and are looked up; a glob is tried only on a text that starts or ends with its byte.
// The index changes the order of asking, never the answer: the last match in the file wins.

import { DEEP, END, type Glob, literalFrom, SET } from './glob.js'
import { matchGlob } from './wildmatch.js'

export type Entry = {
  /** The place of the rule in its file. */
  readonly order: number
  readonly isNegated: boolean
  readonly isFolderOnly: boolean
}

export type Asked = {
  readonly text: string
  readonly isFolder: boolean
  /** The text from its last dot on, or nothing; once an index has needed it. */
  ending: string | undefined
}

export function askedOf(text: string, isFolder: boolean): Asked {
  return { text, isFolder, ending: undefined }
}

export type RuleIndex = {
  readonly size: number
  readonly literals: Buckets<string>
  /** True at every length that a literal has: hashing a long text costs more than everything else. */
  readonly lengths: readonly (true | undefined)[]
  /** Suffixes that have a dot, by what they hold from their last dot on. */
  readonly suffixes: Buckets<string>
  readonly byFirst: ByteTable
  readonly byLast: ByteTable
  readonly loose: readonly Tested[]
}

/** `rules` come in the order of the file. */
export function indexRules(rules: readonly { entry: Entry; glob: Glob }[]): RuleIndex {
  const literals = new Map<string, Tested[]>()
  const suffixes = new Map<string, Tested[]>()
  const byFirst = new Map<number, Tested[]>()
  const byLast = new Map<number, Tested[]>()
  const loose: Tested[] = []
  for (const { entry, glob } of rules) {
    const literal = literalFrom(glob, 0)
    const suffix = glob.steps[0] === DEEP ? literalFrom(glob, 1) : undefined
    const first = bytesOf(glob, 0)
    const last = bytesOf(glob, glob.steps.length - 2)
    const tested = { ...entry, test: literal ?? suffix ?? glob }
    if (literal !== undefined) add(literals, literal, tested)
    else if (suffix?.includes('.')) add(suffixes, suffix.slice(suffix.lastIndexOf('.')), tested)
    else if (first !== undefined) for (const byte of first) add(byFirst, byte, tested)
    else if (last !== undefined) for (const byte of last) add(byLast, byte, tested)
    else loose.push(tested)
  }
  return {
    size: rules.length,
    literals,
    lengths: lengthsOf(literals.keys()),
    suffixes,
    byFirst: table(byFirst),
    byLast: table(byLast),
    loose,
  }
}

/** The text must be folded if the globs are. */
export function lastMatch(index: RuleIndex, asked: Asked): Entry | undefined {
  const { text } = asked
  // Written out, each step behind its own test: most texts are few calls away from 'no rule'.
  let last: Entry | undefined
  if (index.lengths[text.length] === true) {
    const same = index.literals.get(text)
    if (same !== undefined) last = lastIn(same, asked)
  }
  if (index.suffixes.size > 0) {
    const alike = index.suffixes.get((asked.ending ??= endingOf(text)))
    if (alike !== undefined) last = later(last, lastIn(alike, asked))
  }
  const first = index.byFirst[text.charCodeAt(0)]
  if (first !== undefined) last = later(last, lastIn(first, asked))
  const final = index.byLast[text.charCodeAt(text.length - 1)]
  if (final !== undefined) last = later(last, lastIn(final, asked))
  return index.loose.length === 0 ? last : later(last, lastIn(index.loose, asked))
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

/** What the text must end with, or the glob it must match. */
type Tested = Entry & { readonly test: string | Glob }

/** Each in the order of the file. */
type Buckets<Key> = ReadonlyMap<Key, readonly Tested[]>

/** Buckets by byte, in a plain array. */
type ByteTable = readonly (readonly Tested[] | undefined)[]

function lastIn(entries: readonly Tested[], asked: Asked): Entry | undefined {
  const { text, isFolder } = asked
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i]
    if (entry === undefined || (entry.isFolderOnly && !isFolder)) continue
    const { test } = entry
    if (typeof test === 'string' ? text.endsWith(test) : matchGlob(test, text)) return entry
  }
  return undefined
}

function later(one: Entry | undefined, other: Entry | undefined): Entry | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.order > other.order ? one : other
}

function add<Key>(buckets: Map<Key, Tested[]>, key: Key, tested: Tested): void {
  const bucket = buckets.get(key)
  if (bucket === undefined) buckets.set(key, [tested])
  else bucket.push(tested)
}

/** The bytes a step accepts; `undefined` for a star. */
function bytesOf({ steps, sets }: Glob, at: number): number[] | undefined {
  const step = steps[at]
  if (step === undefined) return undefined
  if (step < END) return [step]
  const set = sets[step - SET]
  return set === undefined ? undefined : [...set.keys()].filter((byte) => set[byte] === 1)
}

function table(buckets: Buckets<number>): ByteTable {
  return buckets.size === 0 ? NOTHING : Array.from(NOTHING, (_, byte) => buckets.get(byte))
}

const NOTHING: ByteTable = Array.from({ length: 256 }, () => undefined)
