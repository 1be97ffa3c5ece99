// The tokens of a prompt. The hooks of agents store in the metadata what the conversation had used when a checkpoint was made, so
// the tokens of a prompt are the difference between its row and that of the next prompt, or the newest row of its turn.
import { fieldsOf, tryParseJson } from '../../base/index.js'
import type { SessionKey } from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { openForDisplay, type Vault } from '../encryption/index.js'
import { number } from '../rows.js'

export type TurnUsage = {
  /** `input` includes `cached`, the tokens that the model read from its cache. */
  readonly tokens: { readonly input: number; readonly output: number; readonly cached: number }
  /** Null if the transcript has no cost. */
  readonly costUsd: number | null
}

/** Undefined if the transcript has no amounts, was replaced during the turn, or cannot be decrypted. */
export function readTurnUsage(
  database: Database,
  { session, turn }: { readonly session: SessionKey; readonly turn: number },
  vault: Vault,
): TurnUsage | undefined {
  const rows = database.all(
    `SELECT id, turn, CASE WHEN json_valid(metadata)
       THEN json_object('usage', json_extract(metadata, '$.usage')) ELSE metadata END AS metadata
     FROM checkpoints WHERE session = ? AND turn IN (?, ?) ORDER BY step`,
    session,
    turn,
    turn + 1,
  )
  const [first, ...later] = rows.filter((row) => number(row, 'turn') === turn)
  const next = rows.find((row) => number(row, 'turn') > turn)
  const ends = [...later, ...(next === undefined ? [] : [next])]
  const end = ends.map((row) => usageIn(row, vault)).findLast((usage) => usage !== undefined)
  if (first === undefined || end === undefined) return undefined
  const start = usageIn(first, vault) ?? { input: 0, output: 0, cached: 0, costUsd: null }
  const tokens = {
    input: end.input - start.input,
    output: end.output - start.output,
    cached: end.cached - start.cached,
  }
  if (Object.values(tokens).some((count) => count < 0)) return undefined
  const costUsd = end.costUsd === null ? null : end.costUsd - (start.costUsd ?? 0)
  return { tokens, costUsd }
}

function usageIn(row: SqlRow, vault: Vault) {
  const shown = openForDisplay(vault, 'checkpoints.metadata', row)
  const metadata = fieldsOf(typeof shown === 'string' ? tryParseJson(shown) : undefined)
  const { input, output, cached, costUsd } = fieldsOf(metadata['usage'])
  if (typeof input !== 'number' || typeof output !== 'number' || typeof cached !== 'number')
    return undefined
  return { input, output, cached, costUsd: typeof costUsd === 'number' ? costUsd : null }
}
