// Adds a marked block of its own at the end of a YAML file, and takes it out again.
import { isMap, Lexer, parseDocument, Parser } from 'yaml'
import { isYamlTooDeep, SavestateError } from '../../internal.js'
import { type Edited, edited, lineEndOf } from './text-edit.js'

const BEGIN = '# >>> savestate install >>>'
const END = '# <<< savestate install <<<'

/** Throws CONFIG_INVALID for what is not YAML, or has the key already: two of them would be no YAML any more. */
export function addBlock(before: Edited, key: string, lines: readonly string[]): Edited {
  const { text } = before
  if (isYamlTooDeep(text, { Lexer, Parser }))
    throw new SavestateError('CONFIG_INVALID', 'it is nested too deeply')
  const document = parseDocument(text)
  const [fault] = document.errors
  if (fault !== undefined)
    throw new SavestateError('CONFIG_INVALID', 'it is not YAML', { cause: fault })
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
  const eol = lineEndOf(text)
  const gap = text === '' || text.endsWith('\n') ? '' : eol
  const inserted = `${gap}${[BEGIN, ...lines, END].join(eol)}${eol}`
  const after = edited(before, { offset: text.length, removed: '', inserted })
  if (parseDocument(after.text).errors.length === 0) return after
  throw new SavestateError('CONFIG_INVALID', 'no block can be added after what is at its end')
}

/** The lines of the block; undefined if there is none. */
export function blockIn(text: string): readonly string[] | undefined {
  const found = placeOf(text)
  return found === undefined ? undefined : found.block.trimEnd().split(/\r?\n/).slice(1, -1)
}

export function removeBlock(before: Edited): Edited {
  const found = placeOf(before.text)
  if (found === undefined) return before
  return edited(before, { offset: found.offset, removed: found.block, inserted: '' })
}

function placeOf(text: string): { readonly offset: number; readonly block: string } | undefined {
  const offset = text.indexOf(BEGIN)
  const end = text.indexOf(END, offset + 1)
  if (offset === -1 || end === -1) return undefined
  const [rest = ''] = /^[^\n]*\n?/.exec(text.slice(end)) ?? []
  return { offset, block: text.slice(offset, end) + rest }
}
