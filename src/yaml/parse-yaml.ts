// Parses YAML from other programs, as version 1.1, because most of it was written by Python. No tag creates an object, and
// nesting, aliases and keys are bounded. The library takes 21 ms to load, so callers import this folder when they need it.
import {
  type Document,
  type DocumentOptions,
  isCollection,
  isScalar,
  Lexer,
  LineCounter,
  parseDocument,
  type ParseOptions,
  Parser,
  type ScalarTag,
  type SchemaOptions,
  type Tags,
  visit,
} from 'yaml'
import { SavestateError } from '../model/index.js'

const COLLECTIONS: ReadonlySet<string> = new Set(['block-map', 'block-seq', 'flow-collection'])

const MAX_YAML_ALIASES = 5000

/** The library overflows the stack at three times this depth, at the earliest. */
export const MAX_YAML_DEPTH = 200

/** `source`: the name of the text in messages. */
export type YamlText = { readonly text: string; readonly source: string }

/** Throws BAD_INPUT, with line and column where they are known. */
export function parseYaml(given: YamlText): unknown {
  const { source } = given
  const lineCounter = new LineCounter()
  const document = parseYamlDocument(given, {
    lineCounter,
    version: '1.1',
    intAsBigInt: true,
    // The library compares each key with all before it. findFault does it in linear time.
    uniqueKeys: false,
    // The library compares each key of an ordered map with all before it. Without its tag such a map is refused.
    customTags: (tags) =>
      tags.filter((tag) => typeof tag === 'string' || tag.tag !== ORDERED_MAP).map(asPython),
  })
  const tag = document.warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED')
  if (tag !== undefined) {
    throw new SavestateError(
      'BAD_INPUT',
      `${source} has an unknown tag${formatPosition(tag.linePos)}`,
      { hint: 'Only the program that wrote the tag can interpret it.', cause: tag },
    )
  }
  const fault = findFault(document)
  if (fault !== undefined) {
    const position = formatPosition([lineCounter.linePos(fault.at)])
    throw new SavestateError('BAD_INPUT', `${source} has ${fault.what}${position}`, {
      hint: fault.hint,
    })
  }
  try {
    return document.toJS()
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause
    throw new SavestateError('BAD_INPUT', `${source} has an alias that cannot be followed`, {
      hint: 'An alias has no anchor, or the aliases would expand without limit.',
      cause,
    })
  }
}

/** The library's document, for callers that edit the text. Throws BAD_INPUT for deep nesting and syntax errors. */
export function parseYamlDocument(
  { text, source }: YamlText,
  options: ParseOptions & DocumentOptions & SchemaOptions = {},
): Document {
  if (isTooDeep(text)) {
    throw new SavestateError(
      'BAD_INPUT',
      `${source} is nested deeper than ${MAX_YAML_DEPTH} levels`,
    )
  }
  const document = parseDocument(text, { logLevel: 'silent', ...options })
  const [error] = document.errors
  if (error === undefined) return document
  throw new SavestateError('BAD_INPUT', `${source} is not YAML${formatPosition(error.linePos)}`, {
    cause: error,
  })
}

/**
 * Counts the depth without recursion, before the library composes the text recursively: a regular expression that V8
 * compiles at the end of the stack does not throw, it aborts the process.
 */
function isTooDeep(text: string): boolean {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    for (const _token of parser.next(lexeme));
    const { stack } = parser
    // Without the document around all collections, and without a scalar inside them.
    const others = COLLECTIONS.has(stack.at(-1)?.type ?? '') ? 1 : 2
    if (stack.length - others > MAX_YAML_DEPTH) return true
  }
  return false
}

// Python reads y, n and a lone point as text, and a number with an exponent only if it has a point and a sign.
const PYTHON_FORMS: readonly (readonly [example: string, form: RegExp])[] = [
  ['true', /^(?:[Yy]es|YES|[Tt]rue|TRUE|[Oo]n|ON)$/],
  ['false', /^(?:[Nn]o|NO|[Ff]alse|FALSE|[Oo]ff|OFF)$/],
  ['1.5', /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)$/],
  ['1.5e+3', /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)[eE][-+][0-9]+$/],
]

/** The same tag, matching only what Python's parser matches. */
function asPython(tag: Tags[number]): Tags[number] {
  if (typeof tag === 'string' || 'collection' in tag) return tag
  if (tag.tag === INTEGER) {
    const resolve: ScalarTag['resolve'] = (...given) => shorten(tag.resolve(...given))
    return { ...tag, resolve }
  }
  const [, form] = PYTHON_FORMS.find(([example]) => tag.test?.test(example) === true) ?? []
  return form === undefined ? tag : { ...tag, test: form }
}

type Position = { readonly line: number; readonly col: number }

function formatPosition(positions: readonly [Position, ...unknown[]] | undefined): string {
  return positions === undefined ? '' : `: line ${positions[0].line}, column ${positions[0].col}`
}

const INTEGER = 'tag:yaml.org,2002:int'
const ORDERED_MAP = 'tag:yaml.org,2002:omap'

/** Only an integer that a number cannot hold stays a BigInt. */
function shorten(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

type Fault = { readonly at: number; readonly what: string; readonly hint: string }

/**
 * The first duplicate key, the first key that is a list or mapping (the library would write it out as text), or the first
 * alias above the limit (for each alias the library searches all nodes).
 */
function findFault(document: Document): Fault | undefined {
  let fault: Fault | undefined
  let aliases = 0
  visit(document, {
    Alias(_key, { range }) {
      aliases += 1
      if (aliases <= MAX_YAML_ALIASES) return undefined
      fault = { ...MANY_ALIASES, at: range?.[0] ?? 0 }
      return visit.BREAK
    },
    Map(_key, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (isCollection(key)) fault = { ...LIST_AS_KEY, at: key.range?.[0] ?? 0 }
        else if (isScalar(key) && seen.has(key.value)) {
          fault = { ...KEY_TWICE, at: key.range?.[0] ?? 0 }
        } else if (isScalar(key)) seen.add(key.value)
        if (fault !== undefined) return visit.BREAK
      }
      return undefined
    },
  })
  return fault
}

const MANY_ALIASES = {
  what: `more than ${MAX_YAML_ALIASES} aliases`,
  hint: 'Write it without aliases, or as JSON.',
}
const LIST_AS_KEY = {
  what: 'a list or mapping as a key',
  hint: 'Keys must be strings, as in JSON.',
}
const KEY_TWICE = {
  what: 'the same key twice in one mapping',
  hint: 'Remove one of them, or rename it.',
}
