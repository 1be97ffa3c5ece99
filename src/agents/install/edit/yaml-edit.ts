// Adds a marked block at the end of a YAML file, and removes it.
import { type Document, isMap } from 'yaml'
import { SavestateError } from '../../../index.js'
import { parseYamlDocument } from '../../../yaml/index.js'
import { type Edited, applyEdit, detectLineEnd } from './text-edit.js'

const BEGIN = '# >>> savestate install >>>'
const END = '# <<< savestate install <<<'

/** Throws CONFIG_INVALID for a file that is not YAML or already has the key: a duplicate key is not valid YAML. */
export function addBlock(before: Edited, key: string, lines: readonly string[]): Edited {
  const { text } = before
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
  const inserted = `${gap}${[BEGIN, ...lines, END].join(eol)}${eol}`
  const after = applyEdit(before, { offset: text.length, removed: '', inserted })
  parse(after.text, 'its last entry does not allow a block after it')
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
  const found = findBlock(text)
  return found === undefined ? undefined : found.block.trimEnd().split(/\r?\n/).slice(1, -1)
}

export function removeBlock(before: Edited): Edited {
  const found = findBlock(before.text)
  if (found === undefined) return before
  return applyEdit(before, { offset: found.offset, removed: found.block, inserted: '' })
}

function findBlock(text: string): { readonly offset: number; readonly block: string } | undefined {
  const offset = text.indexOf(BEGIN)
  const end = text.indexOf(END, offset + 1)
  if (offset === -1 || end === -1) return undefined
  const [rest = ''] = /^[^\n]*\n?/.exec(text.slice(end)) ?? []
  return { offset, block: text.slice(offset, end) + rest }
}
