// Adds a marked block at the end of a YAML file, and removes it.
import { type Document, isMap } from 'yaml'
import { SavestateError } from '../../../index.js'
import { parseYamlDocument } from '../../../yaml/index.js'
import { detectLineEnd } from './text-edit.js'

const BEGIN = '# >>> savestate install >>>'
const END = '# <<< savestate install <<<'
const BLOCK = new RegExp(`${BEGIN}[^]*?${END}[^\\n]*\\n?`)

/** Throws CONFIG_INVALID for a file that is not YAML or already has the key: a duplicate key is not valid YAML. */
export function addBlock(text: string, key: string, lines: readonly string[]): string {
  const document = parse(text, undefined)
  const isEmpty = document.contents === null
  if (!isEmpty && (!isMap(document.contents) || document.contents.flow === true))
    throw new SavestateError('CONFIG_INVALID', 'it is not a mapping in block form')
  if (document.has(key)) {
    throw new SavestateError(
      'CONFIG_INVALID',
      `it already has ${key}, which Savestate cannot extend`,
      {
        hint: `Add these lines to it by hand:\n${lines.join('\n')}`,
      },
    )
  }
  const eol = detectLineEnd(text)
  const gap = text === '' || text.endsWith('\n') ? '' : eol
  const after = `${text}${gap}${[BEGIN, ...lines, END].join(eol)}${eol}`
  parse(after, 'its last entry does not allow a block after it')
  return after
}

/** Throws CONFIG_INVALID, with the given message or that of the parser. */
function parse(text: string, message: string | undefined): Document {
  try {
    return parseYamlDocument({ text, source: 'it' })
  } catch (cause) {
    if (!(cause instanceof SavestateError)) throw cause
    throw new SavestateError('CONFIG_INVALID', message ?? cause.message, { cause })
  }
}

/** The lines of the block; undefined if there is none. */
export function blockIn(text: string): readonly string[] | undefined {
  return BLOCK.exec(text)?.[0].trimEnd().split(/\r?\n/).slice(1, -1)
}

export function removeBlock(text: string): string {
  return text.replace(BLOCK, '')
}
