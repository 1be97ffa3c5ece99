// YAML that somebody else wrote, read as 1.1, because most of it was written by Python. Nothing in it is acted on:
// no tag makes an object, and aliases cannot make it grow without end. The library is loaded when it is needed.
import type { CollectionTag, ScalarTag, Tags } from 'yaml'
import { SavestateError } from '../model/index.js'

/** Throws BAD_INPUT, with line and column where there is one. `source` is how the text is called in messages. */
export async function parseYamlText({
  text,
  source,
}: {
  readonly text: string
  readonly source: string
}): Promise<unknown> {
  const { parseDocument } = await import('yaml')
  try {
    const document = parseDocument(text, {
      version: '1.1',
      intAsBigInt: true,
      logLevel: 'silent',
      customTags: (tags) => tags.map(asPython),
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
        { hint: 'What such a tag means only the program knows that wrote it.', cause: tag },
      )
    }
    return document.toJS({ reviver: (_key, value) => withoutNeedlessBigInt(value) })
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new SavestateError('BAD_INPUT', `${source} is nested too deep`, { cause })
    }
    if (!(cause instanceof ReferenceError)) throw cause
    throw new SavestateError('BAD_INPUT', `${source} has an alias that cannot be followed`, {
      hint: 'An alias leads to nothing, or there are so many that the text would grow without end.',
      cause,
    })
  }
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

/** Only an integer that a number cannot hold stays one. */
function withoutNeedlessBigInt(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}
