// Adds our entries at the end of Codex's config.toml, and removes them: a table for each trusted hook, and a table for our MCP
// server, below a comment that marks it as ours.
import { parse } from 'smol-toml'
import { fieldsOf } from '../../../base/index.js'
import { SavestateError } from '../../../index.js'
import { detectLineEnd } from './text-edit.js'

/** `key`: the file, event and position of a hook. `hash`: of its command. */
export type Trust = { readonly key: string; readonly hash: string }

/** Throws CONFIG_INVALID if the text is not TOML, or has these tables in a form that Codex does not write. */
export function addTrust(text: string, { key, hash }: Trust): string {
  const known = trustedHash(text, key)
  if (known === hash) return text
  const table = tableOf(key)
  const start = text.indexOf(table)
  const after =
    known === undefined
      ? appendLines(text, [table, hashOf(hash)])
      : text.slice(0, start) + text.slice(start).replace(known, () => hash)
  // Check that Codex will find it.
  if (trustedHash(after, key) === hash) return after
  throw notExtendable('hooks')
}

export function trustedHash(text: string, key: string): string | undefined {
  const { trusted_hash: hash } = fieldsOf(valueAt(text, ['hooks', 'state', key]))
  return typeof hash === 'string' ? hash : undefined
}

/** Removes the table of a hook with this hash. */
export function removeTrust(text: string, { key, hash }: Trust): string {
  for (const eol of ['\r\n', '\n']) {
    const table = tableOf(key) + eol + hashOf(hash)
    const offset = text.indexOf(table)
    if (offset === -1) continue
    const end = offset + table.length
    return cutLines(text, offset, text.startsWith(eol, end) ? end + eol.length : end)
  }
  return text
}

const MARK = '# Written by `savestate install --mcp`.'
const SERVER = ['mcp_servers', 'savestate']
/** The first line of an older version was longer. */
const BLOCK =
  /# Written by `savestate install --mcp`.*\r?\n(\[mcp_servers\.savestate\](?:\r?\n(?:command|args|env) = .*)*)(?:\r?\n)?/

/** The lines of our server; undefined if there is none. */
export function serverLines(text: string): readonly string[] | undefined {
  return BLOCK.exec(text)?.[1]?.split(/\r?\n/)
}

/** Whether there is a server of our name, ours or the user's. */
export function hasServer(text: string): boolean {
  return valueAt(text, SERVER) !== undefined
}

/** Leaves a server of the user alone. Throws CONFIG_INVALID. */
export function addServer(text: string, lines: readonly string[]): string {
  if (hasServer(text)) return text
  const after = appendLines(text, [MARK, ...lines])
  // Check that Codex will find the entry.
  if (hasServer(after)) return after
  throw notExtendable('servers')
}

export function removeServer(text: string): string {
  const found = BLOCK.exec(text)
  return found === null ? text : cutLines(text, found.index, found.index + found[0].length)
}

function appendLines(text: string, lines: readonly string[]): string {
  const eol = detectLineEnd(text)
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  return `${text}${gap}${lines.join(eol)}${eol}`
}

/** Also removes the blank line before them. */
function cutLines(text: string, start: number, end: number): string {
  return text.slice(0, start).replace(/(?<=\n)\r?\n$/, '') + text.slice(end)
}

function tableOf(key: string): string {
  return `[hooks.state.${JSON.stringify(key)}]`
}

function hashOf(hash: string): string {
  return `trusted_hash = ${JSON.stringify(hash)}`
}

function notExtendable(what: string): SavestateError {
  const message = `its table of ${what} has a form that Savestate cannot extend`
  return new SavestateError('CONFIG_INVALID', message)
}

/** The value at a path of keys. Throws CONFIG_INVALID. */
function valueAt(text: string, keys: readonly string[]): unknown {
  try {
    const root: unknown = parse(text, { integersAsBigInt: true })
    return keys.reduce((value, key) => {
      const table = fieldsOf(value)
      return Object.hasOwn(table, key) ? table[key] : undefined
    }, root)
  } catch (cause) {
    const message = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    throw new SavestateError('CONFIG_INVALID', `it is not TOML: ${message}`, { cause })
  }
}
