// Adds and removes Codex's records of trusted hooks in its config.toml: one table per hook, at the end of the file.
import { parse } from 'smol-toml'
import { SavestateError } from '../../../index.js'
import { type Edited, applyEdit, detectLineEnd } from './text-edit.js'

/** `key`: the file, event and position of a hook. `hash`: of its command. */
export type Trust = { readonly key: string; readonly hash: string }

/** Throws CONFIG_INVALID if the text is not TOML, or has these tables in a form that Codex does not write. */
export function addTrust(before: Edited, { key, hash }: Trust): Edited {
  const known = trustedHash(before.text, key)
  if (known === hash) return before
  const eol = detectLineEnd(before.text)
  const after =
    known === undefined
      ? appendLines(before, [tableOf(key), hashOf(hash)], eol)
      : replaceHash(before, { key, known, hash })
  // Check that Codex will find it.
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

/** The value at a path of keys. Throws CONFIG_INVALID. */
export function tableAt(text: string, keys: readonly string[]): unknown {
  return keys.reduce<unknown>(at, parseToml(text))
}

/** Removes the table of a hook with this hash, and the blank line before it. */
export function removeTrust(before: Edited, { key, hash }: Trust): Edited {
  for (const eol of ['\r\n', '\n']) {
    const table = tableOf(key) + eol + hashOf(hash)
    const offset = before.text.indexOf(table)
    if (offset === -1) continue
    const start = before.text.slice(0, offset).endsWith(eol + eol) ? offset - eol.length : offset
    const end = before.text.startsWith(eol, offset + table.length)
      ? offset + table.length + eol.length
      : offset + table.length
    return applyEdit(before, {
      offset: start,
      removed: before.text.slice(start, end),
      inserted: '',
    })
  }
  return before
}

function appendLines(before: Edited, lines: readonly string[], eol: string): Edited {
  const { text } = before
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol
  const inserted = `${gap}${lines.join(eol)}${eol}`
  return applyEdit(before, { offset: text.length, removed: '', inserted })
}

function replaceHash(before: Edited, trust: Trust & { readonly known: string }): Edited {
  const start = before.text.indexOf(tableOf(trust.key))
  const offset = start === -1 ? -1 : before.text.indexOf(trust.known, start)
  if (offset === -1)
    throw new SavestateError(
      'CONFIG_INVALID',
      'its table of hooks does not have the form that Codex writes',
    )
  return applyEdit(before, { offset, removed: trust.known, inserted: trust.hash })
}

function tableOf(key: string): string {
  return `[hooks.state.${JSON.stringify(key)}]`
}

function hashOf(hash: string): string {
  return `trusted_hash = ${JSON.stringify(hash)}`
}

function parseToml(text: string): Readonly<Record<string, unknown>> {
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
