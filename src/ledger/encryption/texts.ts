// Seals and opens the text of a column.
import { SavestateError, SealedValue } from '../../model/index.js'
import { isSealed, keyIdOf, type SealContext } from './sealing-key.js'
import type { Vault } from './vault.js'

/** Inside the transaction that writes it. Throws KEY_MISSING or KEY_WRONG. */
export function sealText(vault: Vault, text: string, context: SealContext): string {
  return vault.keyForWriting()?.seal(text, context) ?? text
}

/** Throws KEY_MISSING or KEY_WRONG, and STORE_DAMAGED if the text was altered or moved. */
export function openText(vault: Vault, text: string, context: SealContext): string {
  if (!isSealed(text)) return text
  const opened = vault.open(text, context)
  if (opened === undefined) throw damaged(context.slice(0, 3).join(' '))
  return opened
}

/** Like `openText`, but returns a SealedValue if it cannot open the text, so that lists need no key. */
export function openForDisplay(
  vault: Vault,
  text: string,
  context: SealContext,
): { readonly text: string } | { readonly sealed: SealedValue } {
  if (!isSealed(text)) return { text }
  const id = keyIdOf(text)
  if (id !== undefined && !vault.has(id)) return { sealed: new SealedValue(id) }
  const opened = vault.open(text, context)
  if (opened !== undefined) return { text: opened }
  return { sealed: new SealedValue(id ?? '', { isDamaged: true }) }
}

/** Throws KEY_MISSING, KEY_WRONG or STORE_DAMAGED for a SealedValue. */
export function refuseSealed(vault: Vault, value: unknown): void {
  if (!(value instanceof SealedValue)) return
  if (!value.isDamaged) vault.keyFor(value.keyId)
  throw damaged('metadata')
}

function damaged(what: string): SavestateError {
  return new SavestateError('STORE_DAMAGED', `An encrypted value is damaged: ${what}`, {
    hint: 'The session or checkpoint that it belongs to cannot be read. Everything else can.',
  })
}
