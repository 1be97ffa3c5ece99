// YAML that somebody else wrote, read as 1.1, because most of it was written by Python. Nothing in it is acted on:
// no tag makes an object, and aliases cannot make it grow without end. The library is loaded when it is needed.
import type { CollectionTag, Document, ScalarTag, Tags } from 'yaml'
import { SavestateError } from '../model/index.js'

type Library = typeof import('yaml')
/** What is used of it to read without composing. Named here so that our published types do not need its own. */
type Reading = {
  readonly Lexer: new () => { lex(text: string): Iterable<string> }
  readonly Parser: new () => {
    next(lexeme: string): Iterable<unknown>
    /** From the document to what is being read. */
    readonly stack: readonly { readonly type: string }[]
  }
}
const COLLECTIONS: ReadonlySet<string> = new Set(['block-map', 'block-seq', 'flow-collection'])

const MAX_YAML_ALIASES = 5000

/** The library has stack for three times that, at the least. */
export const MAX_YAML_DEPTH = 200

/** Throws BAD_INPUT, with line and column where there is one. `source` is how the text is called in messages. */
export async function parseYamlText({
  text,
  source,
}: {
  readonly text: string
  readonly source: string
}): Promise<unknown> {
  const library = await import('yaml')
  if (isYamlTooDeep(text, library)) {
    throw new SavestateError(
      'BAD_INPUT',
      `${source} is nested deeper than ${MAX_YAML_DEPTH} levels`,
    )
  }
  const lines = new library.LineCounter()
  try {
    const document = library.parseDocument(text, {
      lineCounter: lines,
      version: '1.1',
      intAsBigInt: true,
      logLevel: 'silent',
      // The library compares each key with all before it; faultIn needs a step per key.
      uniqueKeys: false,
      customTags: (tags) => tags.filter(isLinear).map(asPython),
    })
    const [error] = document.errors
    if (error !== undefined) {
      throw new SavestateError('BAD_INPUT', `${source} is not YAML${placeOf(error.linePos)}`, {
        cause: error,
      })
    }
    const tag = document.warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED')
    if (tag !== undefined) {
      throw new SavestateError(
        'BAD_INPUT',
        `${source} has a tag of another program${placeOf(tag.linePos)}`,
        { hint: 'Only the program that wrote such a tag knows what it means.', cause: tag },
      )
    }
    const fault = faultIn(document, library)
    if (fault !== undefined) {
      const place = placeOf([lines.linePos(fault.at)])
      throw new SavestateError('BAD_INPUT', `${source} has ${fault.what}${place}`, {
        hint: fault.hint,
      })
    }
    return document.toJS()
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause
    throw new SavestateError('BAD_INPUT', `${source} has an alias that cannot be followed`, {
      hint: 'An alias has no anchor, or there are so many that the text would grow without limit.',
      cause,
    })
  }
}

/**
 * Found without recursion, before the library composes the text with it: a regular expression that V8 compiles where the
 * stack ends does not throw, it ends the process.
 */
export function isYamlTooDeep(text: string, { Lexer, Parser }: Reading): boolean {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    for (const _whole of parser.next(lexeme));
    // Lists and mappings but for the document around them all, and for a text inside of them all.
    const others = COLLECTIONS.has(parser.stack.at(-1)?.type ?? '') ? 1 : 2
    if (parser.stack.length - others > MAX_YAML_DEPTH) return true
  }
  return false
}

// Python takes y, n and a lone point for text, and numbers with an exponent only with a point and a sign.
const PYTHON_FORMS: readonly (readonly [example: string, form: RegExp])[] = [
  ['true', /^(?:[Yy]es|YES|[Tt]rue|TRUE|[Oo]n|ON)$/],
  ['false', /^(?:[Nn]o|NO|[Ff]alse|FALSE|[Oo]ff|OFF)$/],
  ['1.5', /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)$/],
  ['1.5e+3', /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)[eE][-+][0-9]+$/],
]

/** The same kind of value, in the form that Python gives it. */
function asPython(tag: Tags[number]): Tags[number] {
  if (typeof tag === 'string' || isCollection(tag)) return tag
  if (tag.tag === INTEGER) {
    const resolve: ScalarTag['resolve'] = (...given) => shortened(tag.resolve(...given))
    return { ...tag, resolve }
  }
  const [, form] = PYTHON_FORMS.find(([example]) => tag.test?.test(example) === true) ?? []
  return form === undefined ? tag : { ...tag, test: form }
}

function isCollection(tag: ScalarTag | CollectionTag): tag is CollectionTag {
  return 'collection' in tag
}

type Place = { readonly line: number; readonly col: number }

function placeOf(places: readonly [Place, ...unknown[]] | undefined): string {
  return places === undefined ? '' : `: line ${places[0].line}, column ${places[0].col}`
}

const INTEGER = 'tag:yaml.org,2002:int'

/** Only an integer that a number cannot hold stays a BigInt. */
function shortened(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

const ORDERED_MAP = 'tag:yaml.org,2002:omap'

/** The library compares each key of an ordered map with all before it, too. Without its tag such a map is refused. */
function isLinear(tag: Tags[number]): boolean {
  return typeof tag === 'string' || tag.tag !== ORDERED_MAP
}

type Fault = { readonly at: number; readonly what: string; readonly hint: string }

/**
 * The first key that is there twice, or that would have to be written out as text with everything in it, or the first
 * alias too many: for each the library searches all others.
 */
function faultIn(
  document: Document,
  { isCollection: isList, isScalar, visit }: Library,
): Fault | undefined {
  let fault: Fault | undefined
  let aliases = 0
  visit(document, {
    Alias(_place, { range }) {
      aliases += 1
      if (aliases <= MAX_YAML_ALIASES) return undefined
      fault = { ...MANY_ALIASES, at: range?.[0] ?? 0 }
      return visit.BREAK
    },
    Map(_place, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        if (isList(key)) fault = { ...LIST_AS_KEY, at: key.range?.[0] ?? 0 }
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
