// Removes the archives of older stores (`legacy-*` in the store's folder), which Hermes' import reads too.
import { rmSync } from 'node:fs'
import { explainSystemError, type LegacyArchive, legacyArchives } from '../internal.js'

/** `home`: the store's path. Works beside a damaged ledger. */
export async function clearLegacy(
  home: string,
): Promise<{ readonly removed: readonly LegacyArchive[] }> {
  try {
    const removed = await legacyArchives(home)
    for (const { path } of removed) rmSync(path, { recursive: true, force: true })
    return { removed }
  } catch (error) {
    throw explainSystemError(error)
  }
}
