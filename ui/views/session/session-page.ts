// Reads from the answer of the method `session` what the view needs: which checkpoints belong between which items, and the prompts.
import type { SessionPage } from '../../../src/ui/api.js'

export type PageCheckpoint = SessionPage['checkpoints'][number]
export type Prompt = {
  /** Its position in the conversation. */
  readonly at: number
  readonly text: string
  readonly id: string
}

const PROMPT = 'You: '
const MAX_LENGTH = 120

export function promptOf(reason: string | null): string | undefined {
  return reason?.startsWith(PROMPT) === true ? reason.slice(PROMPT.length) : undefined
}

/**
 * The checkpoints of the current conversation, by position. After a rewind the conversation is shorter; checkpoints of the part that
 * was left are not in it any more.
 */
export function checkpointsByPosition(
  page: SessionPage,
  total: number,
): ReadonlyMap<number, readonly PageCheckpoint[]> {
  const positions = new Map<number, PageCheckpoint[]>()
  // The checkpoint before the first prompt has no conversation yet.
  const begins = page.checkpoints.findIndex(({ items }) => items !== null)
  let longest = total
  for (const [index, checkpoint] of [...page.checkpoints.entries()].toReversed()) {
    const items = index < begins ? 0 : checkpoint.items
    if (items === null || items > longest) continue
    longest = items
    const known = positions.get(items)
    if (known === undefined) positions.set(items, [checkpoint])
    else known.unshift(checkpoint)
  }
  return positions
}

/** Oldest first. A prompt may have several checkpoints; the first one is before it. */
export function promptsOf(
  positions: ReadonlyMap<number, readonly PageCheckpoint[]>,
): readonly Prompt[] {
  const prompts: Prompt[] = []
  const turns = new Set<number>()
  for (const at of [...positions.keys()].sort((one, other) => one - other))
    for (const { id, reason, turn } of positions.get(at) ?? []) {
      const text = promptOf(reason)
      if (text === undefined || (turn !== null && turns.has(turn))) continue
      if (turn !== null) turns.add(turn)
      const isLong = text.length > MAX_LENGTH
      prompts.push({ at, id, text: isLong ? `${text.slice(0, MAX_LENGTH)}…` : text })
    }
  return prompts
}

/** The last checkpoint up to the position, or the first one after it. */
export function nearestCheckpoint(
  positions: ReadonlyMap<number, readonly PageCheckpoint[]>,
  position: number,
): PageCheckpoint | undefined {
  const sorted = [...positions.keys()].sort((one, other) => one - other)
  const before = sorted.findLast((one) => one <= position)
  const found = before ?? sorted[0]
  return found === undefined ? undefined : positions.get(found)?.at(-1)
}
