// Iterates over a list a page at a time, so that a long history is never in memory as a whole.
import type { ExchangedCheckpoint, ExportPage } from '../engine/index.js'
import { SavestateError } from '../model/index.js'
import { expectObject } from './opening/validate-options.js'

type Page<View> = { readonly checkpoints: readonly View[]; readonly cursor: number | undefined }

const PAGE = 100

export async function* iteratePages<View>(
  query: { readonly limit?: number | undefined },
  read: (page: object) => Promise<Page<View>>,
): AsyncGenerator<View, void, undefined> {
  expectObject('iterate', query)
  const { limit = Number.MAX_SAFE_INTEGER } = query
  if (!(Number.isInteger(limit) && limit > 0))
    throw new SavestateError('BAD_INPUT', 'iterate: limit must be a whole number, more than 0')
  let left = limit
  let cursor: number | undefined
  do {
    const page = await read({ ...query, limit: Math.min(left, PAGE), cursor })
    yield* page.checkpoints
    left -= page.checkpoints.length
    cursor = page.cursor
  } while (cursor !== undefined && left > 0)
}

/** The checkpoints of all pages of an export. */
export async function* exportPages(
  read: (after: ExportPage['cursor']) => Promise<ExportPage>,
): AsyncGenerator<ExchangedCheckpoint, void, undefined> {
  let after: ExportPage['cursor']
  do {
    const page = await read(after)
    yield* page.items
    after = page.cursor
  } while (after !== undefined)
}
