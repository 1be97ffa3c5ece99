// One line that says what a tool call does.
import { fieldsOf } from '../../../base/index.js'
import { listIn, textIn } from './raw-item.js'

/** The first of them that is in the arguments. `pattern` comes before `path`, because a search has both. */
const TELLING_NAMES = [
  'command',
  'cmd',
  'commands',
  'file_path',
  'filePath',
  'absolute_path',
  'notebook_path',
  'target_file',
  'pattern',
  'glob_pattern',
  'query',
  'path',
  'paths',
  'url',
  'description',
] as const

/** Not cut, and possibly with several lines. */
export function callSummary(input: unknown): string {
  if (typeof input === 'string') return patchedPaths(input) || input.trim()
  const fields = fieldsOf(input)
  const { command, path } = fields
  // Editors whose `command` is the name of an operation.
  if (typeof command === 'string' && typeof path === 'string' && /^[a-z_]{1,20}$/.test(command))
    return `${command} ${path}`
  const values = [...TELLING_NAMES.map((name) => fields[name]), ...Object.values(fields)]
  for (const value of values) {
    const text = typeof value === 'string' ? value : wordsOf(value)
    if (text.trim() !== '') return patchedPaths(text) || text.trim()
  }
  return ''
}

/** A command as a list of words. A shell with `-c` only wraps the command. */
function wordsOf(value: unknown): string {
  const words = listIn(value).filter((word) => typeof word === 'string')
  const isShell = words.length === 3 && /^-l?c$/.test(words[1] ?? '')
  return isShell ? textIn(words[2]) : words.join(' ')
}

/** The files of a patch in the format of `apply_patch`; empty for any other text. */
function patchedPaths(text: string): string {
  if (!text.startsWith('*** Begin Patch')) return ''
  const found = text.matchAll(/^\*\*\* (?:Add|Update|Delete) File: ([^\n]{1,500})$/gm)
  return Array.from(found, ([, path]) => path).join(', ')
}
