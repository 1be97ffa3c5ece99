/**
 * Simulates a month of an agent on one project, with a simulated clock: prompts and tool calls over 30 days, one
 * session per day. Each tool call edits one file and extends the conversation.
 */
import { randomBytes } from 'node:crypto'
import type { Session, Store } from '../../src/index.js'
import { type Random, seededRandom } from '../trees/random.js'
import { sourceText } from '../trees/source-text.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WORKDAY_MS = 8 * HOUR_MS
const MESSAGE_BYTES = 1500

/** A clock that moves only when the simulation moves it. */
export class SimulatedClock {
  #nowMs: number

  constructor(startMs: number) {
    this.#nowMs = startMs
  }

  readonly nowMs = (): number => this.#nowMs
  readonly random = (bytes: number): Uint8Array => new Uint8Array(randomBytes(bytes))

  pass(ms: number): void {
    this.#nowMs += ms
  }
}

export type Month = {
  readonly folder: string
  readonly days: number
  readonly prompts: number
  readonly calls: number
  /** Edits one file of the project. */
  readonly edit: (random: Random) => void
  /** Called at the end of each day. */
  readonly onDay?: (day: number) => Promise<void>
}

export async function simulateMonth(
  store: Store,
  clock: SimulatedClock,
  month: Month,
): Promise<void> {
  const random = seededRandom(month.prompts)
  const project = await store.project(month.folder)
  const callsPerPrompt = month.calls / month.prompts
  let prompts = 0
  for (let day = 0; day < month.days; day += 1) {
    const upTo = Math.round(((day + 1) * month.prompts) / month.days)
    const today = upTo - prompts
    const session = await store.session(`day-${day}`, { agent: 'claude', project, lease: false })
    for (; prompts < upTo; prompts += 1) {
      await session.newTurn()
      await addRow(session, random, { reason: `You: prompt ${prompts}` })
      for (let call = 0; call < callsPerPrompt; call += 1) {
        clock.pass(Math.floor(WORKDAY_MS / (today * callsPerPrompt)))
        month.edit(random)
        await addRow(session, random, {
          reason: `Edit: call ${call}`,
          toolCall: `${prompts}-${call}`,
        })
      }
    }
    await session.complete()
    await session.close()
    clock.pass(DAY_MS - WORKDAY_MS)
    await month.onDay?.(day)
  }
}

function addRow(
  session: Session,
  random: Random,
  labels: { readonly reason: string; readonly toolCall?: string },
): Promise<unknown> {
  const message = sourceText(random, { number: random.below(1e9), sizeBytes: MESSAGE_BYTES })
  return session.append('log', [message], { files: true, ...labels })
}
