// Writes YAML that readers of version 1.1 (Python's) and 1.2 read the same.
import { Document, type ScalarTag, visit } from 'yaml'
import { jsonEscape, UNSAFE_CHARACTERS } from '../base/index.js'
import { SavestateError } from '../model/index.js'
import { MAX_YAML_DEPTH } from './parse-yaml.js'

/**
 * The text contains no character that acts on a terminal or that only some readers take for a line break. Throws BAD_INPUT
 * for a value that is nested deeper than `parseYaml` reads.
 */
export function formatYaml(value: unknown): string {
  refuseDeep(value)
  const document = new Document(value, {
    compat: 'yaml-1.1',
    aliasDuplicateObjects: false,
    customTags: (tags) => [POINTED, ...tags],
  })
  visit(document, {
    Scalar(_key, node) {
      // Only double-quoted text supports escapes. Python's parser fails on a bare =.
      const { value: text } = node
      const isUnsafe = typeof text === 'string' && text.search(UNSAFE_CHARACTERS) !== -1
      if (isUnsafe || text === '=') node.type = 'QUOTE_DOUBLE'
    },
  })
  return escapeUnsafe(document.toString({ lineWidth: 0 }))
}

/** Like JSON's escapes, except that YAML has no surrogate pairs. */
function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (char) => {
    const code = char.codePointAt(0) ?? 0
    if (code > 0xffff) return `\\U${code.toString(16).padStart(8, '0')}`
    return char === '\n' ? char : jsonEscape(char)
  })
}

/**
 * Adds the point that makes these numbers floats for every reader. Python reads 1e-7 as text, and an integer beyond 2^53
 * as exact; our own parser would make it a BigInt.
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

/** Checks level by level, because the library writes recursively and would overflow the stack. */
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
