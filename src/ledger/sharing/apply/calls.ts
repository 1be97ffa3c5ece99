// Writes the tool calls of a session from elsewhere, and their partial results.
import type { LogNumber, SharedRow } from '../../../model/index.js'
import { number } from '../../rows.js'
import { nextId } from '../../states/rows.js'
import { localColumns, type Target, upsert } from './target.js'
import { NO_SIZE, type Numbered } from '../numbers.js'

/** `numbers` are those of calls that had none, `added` is how many calls were not here. */
export function applyCalls(target: Target): {
  readonly numbers: readonly Numbered[]
  readonly added: number
} {
  const { database, log, folded, changes, locals } = target
  const numbers: Numbered[] = []
  let added = 0
  const rows = [...folded.rows.tool_calls.values()].sort((a, b) => numberOf(a) - numberOf(b))
  const hasNew = rows.some((row) => !locals.has(numberOf(row)))
  const unnumbered = hasNew || folded.isBase ? readUnnumbered(target) : new Map<string, number[]>()
  removeCalls(target)
  for (const row of rows) {
    const call = numberOf(row)
    const known = locals.get(call) ?? unnumbered.get(attemptKey(row))?.shift()
    const seq = Number(known ?? nextId(database, 'tool_calls'))
    if (!locals.has(call)) {
      locals.set(call, seq)
      numbers.push({ kind: 'call', number: call, local: seq, ...NO_SIZE })
    }
    if (known === undefined) added += 1
    else if (changes.has('tool_calls', seq)) continue
    const columns = { seq, session: log.owner, ...localColumns(target, 'tool_calls', { row }) }
    upsert(database, 'tool_calls', { row: columns, key: ['seq'] })
  }
  if (folded.isBase) {
    const gone = [...unnumbered.values()].flat().filter((seq) => !changes.has('tool_calls', seq))
    deleteCalls(target, gone)
  }
  applyPartials(target)
  return { numbers, added }
}

/**
 * The calls of the session without a number, by attempt. One of them may have been sent by a process that died before it learned that the
 * remote has it.
 */
function readUnnumbered({ database, log }: Target): Map<string, number[]> {
  const found = new Map<string, number[]>()
  const rows = database.all(
    `SELECT seq, id, step, idempotency_key FROM tool_calls WHERE session = ?1 AND NOT EXISTS
       (SELECT 1 FROM shared_numbers INDEXED BY shared_numbers_by_row WHERE log = ?2 AND kind = 4 AND local = seq) ORDER BY seq`,
    log.owner,
    log.key,
  )
  for (const row of rows) {
    const seq = number(row, 'seq')
    const key = attemptKey(row as SharedRow)
    found.set(key, [...(found.get(key) ?? []), seq])
  }
  return found
}

function attemptKey(row: SharedRow): string {
  // Not by the time of its start, which a retry changes.
  return JSON.stringify([row['id'], row['step'], row['idempotency_key']])
}

function removeCalls(target: Target): void {
  const { folded, changes, locals } = target
  const gone = [...folded.removed.tool_calls.values()].flatMap((row) => {
    const seq = locals.get(numberOf(row))
    return typeof seq === 'number' && !changes.has('tool_calls', seq) ? [seq] : []
  })
  deleteCalls(target, gone)
}

function deleteCalls({ database, log }: Target, seqs: readonly number[]): void {
  if (seqs.length === 0) return
  const list = JSON.stringify(seqs)
  database.run('DELETE FROM partials WHERE call IN (SELECT value FROM json_each(?))', list)
  const sql = 'DELETE FROM tool_calls WHERE session = ? AND seq IN (SELECT value FROM json_each(?))'
  database.run(sql, log.owner, list)
}

function applyPartials(target: Target): void {
  const { database, log, folded, changes, locals } = target
  const gone = folded.isBase
    ? database
        .all(
          'SELECT call, number FROM partials WHERE call IN (SELECT seq FROM tool_calls WHERE session = ?)',
          log.owner,
        )
        .map((row) => [number(row, 'call'), number(row, 'number')] as const)
    : [...folded.removed.partials.values()].map(
        (row) => [Number(locals.get(Number(row['call']))), Number(row['number'])] as const,
      )
  for (const [call, index] of gone)
    if (!changes.has('partials', call, index))
      database.run('DELETE FROM partials WHERE call = ? AND number = ?', call, index)
  for (const row of folded.rows.partials.values()) {
    const key = { call: Number(locals.get(Number(row['call']))), number: Number(row['number']) }
    if (changes.has('partials', key.call, key.number)) continue
    const columns = { ...localColumns(target, 'partials', { row, key }), ...key }
    upsert(database, 'partials', { row: columns, key: ['call', 'number'] })
  }
}

function numberOf(row: SharedRow): LogNumber {
  return Number(row['number'])
}
