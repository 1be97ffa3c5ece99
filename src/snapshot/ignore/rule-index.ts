// Finds the last rule that matches a text without trying all rules: plain text and `*.suffix` rules, which are most, are
// looked up in maps. The result is the same as trying all: the last match in the file wins.

import { DEEP, type Glob, literalFrom, matchGlob } from './glob.js'

export type Rule = {
  /** The position of the rule in its file. */
  readonly order: number
  readonly isNegated: boolean
  readonly isFolderOnly: boolean
  readonly glob: Glob
}

/** Each list of rules is in file order. */
export type RuleIndex = {
  readonly size: number
  readonly literals: ReadonlyMap<string, readonly Rule[]>
  /** Suffixes with a dot, by their text from the last dot on. */
  readonly suffixes: ReadonlyMap<string, readonly Rule[]>
  readonly others: readonly Rule[]
}

/** `rules` must be in file order. */
export function indexRules(rules: readonly Rule[]): RuleIndex {
  const literals = new Map<string, Rule[]>()
  const suffixes = new Map<string, Rule[]>()
  const others: Rule[] = []
  for (const rule of rules) {
    const literal = literalFrom(rule.glob, 0)
    const suffix = rule.glob.steps[0] === DEEP ? literalFrom(rule.glob, 1) : undefined
    if (literal !== undefined) add(literals, literal, rule)
    else if (suffix?.includes('.')) add(suffixes, endingOf(suffix), rule)
    else others.push(rule)
  }
  return { size: rules.length, literals, suffixes, others }
}

/** The text must be folded if the globs are. */
export function findLastMatch(
  { literals, suffixes, others }: RuleIndex,
  text: string,
  isFolder: boolean,
): Rule | undefined {
  let last: Rule | undefined
  for (const rules of [literals.get(text), suffixes.get(endingOf(text)), others]) {
    const match = rules?.findLast(
      (rule) => (isFolder || !rule.isFolderOnly) && matchGlob(rule.glob, text),
    )
    if (match !== undefined) last = pickLater(last, match)
  }
  return last
}

export function pickLater(one: Rule | undefined, other: Rule | undefined): Rule | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return one.order > other.order ? one : other
}

function endingOf(text: string): string {
  const dot = text.lastIndexOf('.')
  return dot === -1 ? '' : text.slice(dot)
}

function add(buckets: Map<string, Rule[]>, key: string, rule: Rule): void {
  const bucket = buckets.get(key)
  if (bucket === undefined) buckets.set(key, [rule])
  else bucket.push(rule)
}
