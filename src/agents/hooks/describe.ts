// Labels of tool calls and prompts for the list of checkpoints.
import { createHash } from 'node:crypto'
import { isAbsolute, relative } from 'node:path'
import { fieldsOf } from '../../base/index.js'
import type { Tool } from '../mappers/event.js'
import { patchedPaths } from '../mappers/patch.js'

const MAX_PROMPT = 200
const MAX_LABEL = 80
const MAX_PATHS = 3
const PATH_KEYS = [
  'file_path',
  'filePath',
  'notebook_path',
  'path',
  'absolute_path',
  'target_file',
] as const
/** Longer than any label, and short enough to process quickly. */
const MAX_SCANNED_CHARS = 20_000

export function shortenPrompt(prompt: string): string {
  return shorten(prompt, MAX_PROMPT)
}

/** One line: the tool with its command, its files, or its description. */
export function labelCall({ name, input }: Tool, cwd: string | undefined): string {
  const tool = shorten(name, MAX_LABEL)
  const fields = fieldsOf(input)
  const text = (key: string) => {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const patched = patchedPaths(fields, MAX_SCANNED_CHARS)
  const [path] = PATH_KEYS.flatMap((key) => text(key) ?? [])
  const paths = patched.length > 0 || path === undefined ? patched : [path]
  if (paths.length > 0) {
    const shown = paths.slice(0, MAX_PATHS).map((path) => showRelative(path, cwd))
    const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : ''
    return shorten(`${tool} ${shown.join(', ')}`, MAX_LABEL) + more
  }
  const what = text('command') ?? commandWords(fields) ?? text('description')
  return what === undefined ? tool : shorten(`${tool}: ${what}`, MAX_LABEL)
}

/** Equal for the start and the end of a call: its id, or a hash of its input for agents without ids. */
export function callKey({ name, input, callId }: Tool): string {
  if (callId !== undefined) return callId
  const hash = createHash('sha256').update(JSON.stringify([name, input]))
  return hash.digest('hex').slice(0, 24)
}

function commandWords(fields: Readonly<Record<string, unknown>>): string | undefined {
  const words = fields['command'] ?? fields['commands']
  if (!Array.isArray(words)) return undefined
  const texts = words.slice(0, 20).filter((word: unknown) => typeof word === 'string')
  return texts.length === 0 ? undefined : texts.join(' ')
}

function showRelative(path: string, cwd: string | undefined): string {
  // A relative path would resolve against the folder of this process, which may be the daemon.
  if (cwd === undefined || !isAbsolute(cwd)) return path
  if (!isAbsolute(path) || path.length > MAX_SCANNED_CHARS) return path
  const inside = relative(cwd, path)
  return inside === '' || inside.startsWith('..') ? path : inside
}

/** One line of at most `max` characters, without half surrogate pairs. */
function shorten(text: string, max: number): string {
  const line = text
    .slice(0, MAX_SCANNED_CHARS)
    .replaceAll('\0', ' ')
    .replace(/\s+/gu, ' ')
    .replace(/\p{Cs}/gu, '\ufffd')
    .trim()
  return line.length <= max ? line : `${line.slice(0, max - 1).replace(/\p{Cs}$/u, '')}…`
}
