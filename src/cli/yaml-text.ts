// YAML out and in. Written so that readers of YAML 1.1 (Python's) and of 1.2 see the same; read as 1.1,
// because what is read was mostly written by Python. The library is loaded when it is needed.
import type { ScalarTag } from 'yaml'
import { SavestateError } from '../index.js'
import type { GivenText } from './given-text.js'
import { escapeUnsafe, isUnsafe } from './printable.js'

/** Nothing in it acts on a terminal, and none of it is a line break to one reader only. */
export async function yamlOf(value: unknown): Promise<string> {
  const { Document, visit } = await import('yaml')
  const document = new Document(value, {
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
    customTags: (tags) => [EXPONENT, ...tags],
  })
  visit(document, {
    Scalar(_key, node) {
      // Only between double quotes may a character be written by its number. A bare = ends Python's parser.
      const { value: text } = node
      if (typeof text === 'string' && (isUnsafe(text) || text === '=')) node.type = 'QUOTE_DOUBLE'
    },
  })
  return escapeUnsafe(document.toString({ lineWidth: 0 }))
}

/** Python takes 1e-7 for text, and 1.0e-7 for the number. */
const EXPONENT: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => typeof value === 'number' && /^-?\de/.test(String(value)),
  test: /^-?\d\.0e[-+]\d+$/,
  resolve: Number,
  stringify: ({ value }) => String(value).replace('e', '.0e'),
}

/** Throws BAD_INPUT, with line and column where there is one. */
export async function parseYamlText({ text, source }: GivenText): Promise<unknown> {
  const { parseDocument } = await import('yaml')
  const document = parseDocument(text, { version: '1.1', intAsBigInt: true })
  const [error] = document.errors
  if (error !== undefined) {
    const [place] = error.linePos ?? []
    const where = place === undefined ? '' : `: line ${place.line}, column ${place.col}`
    throw new SavestateError('BAD_INPUT', `${source} is not YAML${where}`, { cause: error })
  }
  try {
    return document.toJS({ reviver: (_key, value) => withoutNeedlessBigInt(value) })
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause
    throw new SavestateError('BAD_INPUT', `${source} has an alias that cannot be followed`, {
      hint: 'An alias leads to nothing, or there are so many that the text would grow without end.',
      cause,
    })
  }
}

/** Only an integer that a number cannot hold stays one. */
function withoutNeedlessBigInt(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}
