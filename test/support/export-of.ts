import type { ExchangedCheckpoint } from '../../src/index.js'

/** All exported checkpoints of a session. */
export async function exportOf(session: {
  export(): AsyncIterable<ExchangedCheckpoint>
}): Promise<ExchangedCheckpoint[]> {
  const items: ExchangedCheckpoint[] = []
  for await (const item of session.export()) items.push(item)
  return items
}
