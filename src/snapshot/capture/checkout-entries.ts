// What the user's repositories say of a batch of files, in columns for a hash thread.
import { ENTRY_BYTES } from '../checkout/index-entry.js'
import type { CheckoutEntries } from './hashed-batch.js'
import type { Pending } from './scanned.js'

/** Undefined if they say nothing of any. */
export function checkoutEntries(batch: readonly Pending[]): CheckoutEntries | undefined {
  const sources: string[] = []
  const sourceOf = new Uint8Array(batch.length)
  const entries = Buffer.alloc(batch.length * ENTRY_BYTES)
  batch.forEach(({ context: { checkout }, path }, i) => {
    if (checkout?.copyEntry(path, entries, i * ENTRY_BYTES) !== true) return
    if (!sources.includes(checkout.objects)) sources.push(checkout.objects)
    sourceOf[i] = sources.indexOf(checkout.objects) + 1
  })
  return sources.length === 0 ? undefined : { sources, sourceOf, entries }
}
