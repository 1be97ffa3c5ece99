// Which checkpoints a picker offers.
import type { Row } from '../../../src/ui/api.js'

const MAX_OFFERED = 30

/** All words must occur in the reason, the name, the id, the session or the agent. Named ones first, then the newest. */
export function matchRows(rows: readonly Row[], words: string): readonly Row[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const named: Row[] = []
  const others: Row[] = []
  for (const row of rows) {
    if (!row.hasFiles) continue
    const { reason, name, id, session, sessionAgent } = row
    const text = [reason, name, id, session, sessionAgent].join(' ').toLowerCase()
    if (!wanted.every((word) => text.includes(word))) continue
    if (name !== null) named.push(row)
    else if (others.length < MAX_OFFERED) others.push(row)
  }
  return [...named, ...others].slice(0, MAX_OFFERED)
}
