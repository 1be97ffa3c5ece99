// Groups checkpoints by prompt, for the list and the picker: the row of a prompt, and the rows of its tool calls. Manual
// saves, rewinds and SDK sessions have no prompt, so their rows are single.
import { isPromptReason } from '../../base/index.js'
import type { CheckpointView } from '../../index.js'

export type Group<Row> =
  | { readonly type: 'row'; readonly row: Row }
  | {
      readonly type: 'prompt'
      readonly prompt: Row
      /** Oldest first. */
      readonly steps: readonly Row[]
      /** True if other rows separate these steps from the prompt; an earlier group has the prompt's row. */
      readonly isContinued: boolean
    }

type Grouped = Pick<CheckpointView, 'session' | 'turn' | 'kind' | 'reason' | 'moment'>

/** Takes rows newest first. Returns groups newest first, ordered by their first row. */
export function groupByPrompt<Row extends Grouped>(rows: readonly Row[]): Group<Row>[] {
  const prompts = promptsOf(rows)
  const groups: (Group<Row> & { readonly steps?: Row[] })[] = []
  /** Turns of several agents may run at once: their rows do not separate each other, rows outside prompts do. */
  const open = new Map<string, Row[]>()
  for (const row of rows.toReversed()) {
    const key = turnKey(row)
    const prompt = prompts.get(key)
    if (prompt === undefined || row.kind !== 'save') {
      open.clear()
      groups.push({ type: 'row', row })
    } else if (row === prompt) {
      const steps: Row[] = []
      open.set(key, steps)
      groups.push({ type: 'prompt', prompt, steps, isContinued: false })
    } else {
      const steps = open.get(key)
      if (steps !== undefined) steps.push(row)
      else {
        const later = [row]
        open.set(key, later)
        groups.push({ type: 'prompt', prompt, steps: later, isContinued: true })
      }
    }
  }
  return groups.reverse()
}

export function rowsOf<Row>(group: Group<Row>): readonly Row[] {
  return group.type === 'row' ? [group.row] : [group.prompt, ...group.steps]
}

export function mapGroup<Row, Other>(group: Group<Row>, map: (row: Row) => Other): Group<Other> {
  return group.type === 'row'
    ? { type: 'row', row: map(group.row) }
    : { ...group, prompt: map(group.prompt), steps: group.steps.map(map) }
}

export function isPrompt({ session, kind, reason, moment }: Grouped): boolean {
  // Encrypted metadata does not contain the moment.
  const isBefore = moment !== 'after'
  return session !== null && kind === 'save' && isBefore && isPromptReason(reason)
}

/** The oldest prompt of each turn: one that was sent while the agent worked has the turn of the prompt before. */
function promptsOf<Row extends Grouped>(rows: readonly Row[]): ReadonlyMap<string, Row> {
  const found = rows.filter(isPrompt)
  return new Map(found.map((row) => [turnKey(row), row]))
}

function turnKey({ session, turn }: Grouped): string {
  return JSON.stringify([session, turn])
}
