// YAML out, written so that readers of YAML 1.1 (Python's) and of 1.2 see the same. The library is loaded when it is
// needed.
import type { ScalarTag } from 'yaml'
import { MAX_YAML_DEPTH, SavestateError } from '../internal.js'
import { escapeUnsafeYaml, isUnsafe } from './printable.js'

/**
 * Nothing in it acts on a terminal, and none of it is a line break to one reader only. Throws BAD_INPUT for what is
 * nested deeper than is read again.
 */
export async function yamlOf(value: unknown): Promise<string> {
  refuseDeep(value)
  const { Document, visit } = await import('yaml')
  const document = new Document(value, {
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
    customTags: (tags) => [POINTED, ...tags],
  })
  visit(document, {
    Scalar(_key, node) {
      // Only between double quotes may a character be written by its number. A bare = ends Python's parser.
      const { value: text } = node
      if (typeof text === 'string' && (isUnsafe(text) || text === '=')) node.type = 'QUOTE_DOUBLE'
    },
  })
  return escapeUnsafeYaml(document.toString({ lineWidth: 0 }))
}

/**
 * Adds the point that makes these numbers floats to every reader. Python takes 1e-7 for text, and an integer beyond 2^53
 * is an exact one to Python, and to our own reader a BigInt.
 */
const POINTED: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) =>
    typeof value === 'number' &&
    (/^-?\de/.test(String(value)) || (Number.isInteger(value) && !Number.isSafeInteger(value))),
  test: /^-?\d+\.0(?:e[-+]\d+)?$/,
  resolve: Number,
  stringify: ({ value }) => String(value).replace(/^(-?\d+)(?![\d.])/, '$1.0'),
}

/** Level by level: the library writes by recursion, for which the stack must be long enough. */
function refuseDeep(value: unknown): void {
  let level = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_YAML_DEPTH) {
      throw new SavestateError(
        'BAD_INPUT',
        `The state is nested deeper than ${MAX_YAML_DEPTH} levels, so it cannot be written as YAML`,
        { hint: 'Use --format json.' },
      )
    }
    level = level.flatMap((outer) =>
      typeof outer === 'object' && outer !== null ? Object.values(outer) : [],
    )
  }
}
