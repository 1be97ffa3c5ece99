// Codex' own notes of trusted hooks, in its config.toml: one table each, added at the end, taken out by its text.
import { parse } from 'smol-toml'
import { SavestateError } from '../../../index.js'
import { type Edited, edited, lineEndOf } from './text-edit.js'

/** A hook by its file, event and place, and the hash of what it runs. */
export type Trust = { readonly key: string; readonly hash: string }

/** Throws CONFIG_INVALID for what is not TOML, or has these tables in another form than Codex writes them. */
export function addTrust(before: Edited, { key, hash }: Trust): Edited {
  const known = trustedHash(before.text, key)
  if (known === hash) return before
  const eol = lineEndOf(before.text)
  const after =
    known === undefined
      ? appended(before, [tableOf(key), hashOf(hash)], eol)
      : replaced(before, { key, known, hash })
  // What was added is what Codex will read, and nothing else has changed its meaning.
  if (trustedHash(after.text, key) === hash) return after
  throw new SavestateError(
    'CONFIG_INVALID',
    'its table of hooks has a form that Savestate cannot extend',
  )
}

export function trustedHash(text: string, key: string): string | undefined {
  const hash = at(tableAt(text, ['hooks', 'state', key]), 'trusted_hash')
  return typeof hash === 'string' ? hash : undefined
}

/** What stands at a path of keys. Throws CONFIG_INVALID. */
export function tableAt(text: string, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(at, parsed(text))
}

/** Takes out the table of a hook if it holds this hash, and the blank line before it. */
export function removeTrust(before: Edited, { key, hash }: Trust): Edited {
  for (const eol of ['\r\n', '\n']) {
    const table = tableOf(key) + eol + hashOf(hash)
    const offset = before.text.indexOf(table)
    if (offset === -1) continue
    const start = before.text.slice(0, offset).endsWith(eol + eol) ? offset - eol.length : offset
    const end = before.text.startsWith(eol, offset + table.length)
      ? offset + table.length + eol.length
      : offset + table.length
    return edited(before, { offset: start, removed: before.text.slice(start, end), inserted: '' })
  }
  return before
}

function appended(before: Edited, lines: readonly string[], eol: string): Edited {
  const { text } = before
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  const inserted = `${gap}${lines.join(eol)}${eol}`
  return edited(before, { offset: text.length, removed: '', inserted })
}

function replaced(before: Edited, trust: Trust & { readonly known: string }): Edited {
  const start = before.text.indexOf(tableOf(trust.key))
  const offset = start === -1 ? -1 : before.text.indexOf(trust.known, start)
  if (offset === -1)
    throw new SavestateError(
      'CONFIG_INVALID',
      'its table of hooks does not have the form that Codex writes',
    )
  return edited(before, { offset, removed: trust.known, inserted: trust.hash })
}

function tableOf(key: string): string {
  return `[hooks.state.${JSON.stringify(key)}]`
}

function hashOf(hash: string): string {
  return `trusted_hash = ${JSON.stringify(hash)}`
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text, { integersAsBigInt: true })
  } catch (cause) {
    const message = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause)
    throw new SavestateError('CONFIG_INVALID', `it is not TOML: ${message}`, { cause })
  }
}

function at(value: unknown, key: string): unknown {
  const isTable = typeof value === 'object' && value !== null && Object.hasOwn(value, key)
  return isTable ? (value as Readonly<Record<string, unknown>>)[key] : undefined
}
