// Events in a few words, for the list of checkpoints.
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
/** Longer than any label, shorter than what takes time. */
const MAX_LOOKED_AT = 20_000

export function shortPrompt(prompt: string): string {
  return shortened(prompt, MAX_PROMPT)
}

/** What a call does, in one line: its command, its files, or its description. */
export function labelOf({ name, input }: Tool, cwd: string | undefined): string {
  const tool = shortened(name, MAX_LABEL)
  const fields = fieldsOf(input)
  const text = (key: string) => {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const patched = patchedPaths(fields, MAX_LOOKED_AT)
  const [path] = PATH_KEYS.flatMap((key) => text(key) ?? [])
  const paths = patched.length > 0 || path === undefined ? patched : [path]
  if (paths.length > 0) {
    const shown = paths.slice(0, MAX_PATHS).map((path) => fromFolder(path, cwd))
    const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : ''
    return shortened(`${tool} ${shown.join(', ')}`, MAX_LABEL) + more
  }
  const what = text('command') ?? commandWords(fields) ?? text('description')
  return what === undefined ? tool : shortened(`${tool}: ${what}`, MAX_LABEL)
}

/** The same for the beginning and the end of a call: its id, or what it was asked for where there is none. */
export function callKey({ name, input, callId }: Tool): string {
  if (callId !== undefined) return callId
  const hash = createHash('sha256').update(JSON.stringify([name, input]))
  return hash.digest('hex').slice(0, 24)
}

/** A command given as a list of words. */
function commandWords(fields: Readonly<Record<string, unknown>>): string | undefined {
  const words = fields['command'] ?? fields['commands']
  if (!Array.isArray(words)) return undefined
  const texts = words.slice(0, 20).filter((word: unknown) => typeof word === 'string')
  return texts.length === 0 ? undefined : texts.join(' ')
}

function fromFolder(path: string, cwd: string | undefined): string {
  // What is relative itself would count from the folder of this process, which may be the daemon.
  if (cwd === undefined || !isAbsolute(cwd)) return path
  if (!isAbsolute(path) || path.length > MAX_LOOKED_AT) return path
  const inside = relative(cwd, path)
  return inside === '' || inside.startsWith('..') ? path : inside
}

/** One line of at most so many characters, none of them half. */
function shortened(text: string, max: number): string {
  const line = text
    .slice(0, MAX_LOOKED_AT)
    .replaceAll('\0', ' ')
    .replace(/\s+/gu, ' ')
    .replace(/\p{Cs}/gu, '\ufffd')
    .trim()
  return line.length <= max ? line : `${line.slice(0, max - 1).replace(/\p{Cs}$/u, '')}…`
}
