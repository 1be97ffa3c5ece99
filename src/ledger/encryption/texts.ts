// Texts of a column that may be sealed.
import { SavestateError, SealedValue } from '../../model/index.js'
import { isSealed, keyIdOf, type SealContext } from './sealing-key.js'
import type { Vault } from './vault.js'

/** Inside the transaction that writes it. Throws KEY_MISSING or KEY_WRONG. */
export function sealText(vault: Vault, text: string, context: SealContext): string {
  return vault.keyForWriting()?.seal(text, context) ?? text
}

/** Throws KEY_MISSING or KEY_WRONG, and STORE_DAMAGED for what is not what was sealed there. */
export function openText(vault: Vault, text: string, context: SealContext): string {
  if (!isSealed(text)) return text
  const opened = vault.open(text, context)
  if (opened === undefined) throw damaged(context.slice(0, 3).join(' '))
  return opened
}

/** The same for what is only shown: what cannot be opened is said to be sealed, so that lists need no key. */
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

/** For whoever needs the value itself. Throws KEY_MISSING, KEY_WRONG or STORE_DAMAGED if it was not opened. */
export function refuseSealed(vault: Vault, value: unknown): void {
  if (!(value instanceof SealedValue)) return
  if (!value.isDamaged) vault.keyFor(value.keyId)
  throw damaged('metadata')
}

function damaged(what: string): SavestateError {
  return new SavestateError('STORE_DAMAGED', `An encrypted value is damaged: ${what}`, {
    hint: 'What it belongs to cannot be read. Everything else can.',
  })
}
