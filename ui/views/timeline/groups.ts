// Groups rows by session and prompt: a prompt with the tool calls of its turn, and the turns of one session that follow each other.
// Saves by hand, rewinds and imports have no session and are groups of one row. Pure.
import type { Row } from '../../../src/ui/api.js'
import { type Sum, sumSteps } from '../../components/format.js'
import { authorsOf, isPrompt } from './words.js'

export type Summary = {
  readonly authors: readonly string[]
  readonly steps: number
  readonly sum: Sum
  readonly durationMs: number
}

export type Turn = {
  readonly type: 'turn'
  readonly key: string
  readonly prompt: Row
  /** Oldest first. */
  readonly steps: readonly Row[]
  /** Other rows separate these steps from the prompt, whose own group is further down. */
  readonly isContinued: boolean
  /** Covers all steps, also those that a filter hides. */
  readonly summary: Summary
}
/** A row of a session whose prompt is unknown, or of a session without prompts. */
export type LooseRow = { readonly type: 'loose'; readonly key: string; readonly row: Row }
export type SessionItem = Turn | LooseRow

export type SessionGroup = {
  readonly type: 'session'
  readonly key: string
  readonly session: string
  readonly agent: string | null
  /** Newest first. */
  readonly items: readonly SessionItem[]
}
export type SingleRow = { readonly type: 'single'; readonly key: string; readonly row: Row }
export type Group = SessionGroup | SingleRow

/** Takes rows newest first, and returns groups newest first. */
export function groupRows(rows: readonly Row[]): readonly Group[] {
  const groups: Group[] = []
  let items: SessionItem[] = []
  let session: string | undefined
  const close = () => {
    const oldest = items.at(-1)
    if (session === undefined || oldest === undefined) return
    const agent = rowOfItem(oldest).sessionAgent
    // The oldest row names the group: newer ones are added while the agent works.
    groups.push({ type: 'session', key: `s:${oldest.key}`, session, agent, items })
    items = []
    session = undefined
  }
  for (const item of itemsOf(rows)) {
    if (item.type === 'single') {
      close()
      groups.push(item)
      continue
    }
    const of = rowOfItem(item).session ?? ''
    if (session !== of) close()
    session = of
    items.push(item)
  }
  close()
  return groups
}

export function rowOfItem(item: SessionItem): Row {
  return item.type === 'turn' ? item.prompt : item.row
}

type Found = (Omit<Turn, 'summary' | 'steps'> & { readonly steps: Row[] }) | LooseRow | SingleRow

function itemsOf(rows: readonly Row[]): readonly (SessionItem | SingleRow)[] {
  const prompts = promptsOf(rows)
  const found: Found[] = []
  // Turns of several agents may run at once: their rows do not separate each other, rows outside prompts do.
  const open = new Map<string, Row[]>()
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const row = rows[at]
    if (row === undefined || isNoise(row)) continue
    if (row.session === null || row.kind !== 'save') {
      open.clear()
      found.push({ type: 'single', key: row.id, row })
      continue
    }
    const key = turnKey(row)
    const prompt = prompts.get(key)
    const steps = open.get(key)
    if (prompt === undefined) found.push({ type: 'loose', key: row.id, row })
    else if (row !== prompt && steps !== undefined) steps.push(row)
    else {
      const own = row === prompt ? [] : [row]
      open.set(key, own)
      const isContinued = row !== prompt
      found.push({ type: 'turn', key: row.id, prompt, steps: own, isContinued })
    }
  }
  return found
    .reverse()
    .map((item) => (item.type === 'turn' ? { ...item, summary: summarize(item) } : item))
}

/** A row before a call that changed nothing: the row of the call has the same files. */
function isNoise({ moment, reason, files, name, pinned }: Row): boolean {
  const isBefore = moment === 'before' && reason?.startsWith('Before ') === true
  return isBefore && files === 0 && name === null && !pinned
}

/** The oldest prompt of each turn: one that was sent while the agent worked has the turn of the prompt before. */
function promptsOf(rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.filter(isPrompt).map((row) => [turnKey(row), row]))
}

function turnKey({ session, turn }: Row): string {
  return `${turn} ${session}`
}

function summarize({ prompt, steps }: Pick<Turn, 'prompt' | 'steps'>): Summary {
  const last = steps.at(-1) ?? prompt
  return {
    authors: [...new Set(steps.flatMap(authorsOf))],
    steps: steps.length,
    sum: sumSteps(steps),
    durationMs: Date.parse(last.createdAt) - Date.parse(prompt.createdAt),
  }
}

/** The first known prompt of each session, as its title. */
export function sessionTitles(rows: readonly Row[]): ReadonlyMap<string, Row> {
  const titles = new Map<string, Row>()
  for (const row of rows) if (row.session !== null && isPrompt(row)) titles.set(row.session, row)
  return titles
}
