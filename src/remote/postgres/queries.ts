// Runs statements, each with a deadline: over one connection of our own, or with a client that the caller handed in. All statements are
// unnamed and stand-alone, so any pooler works.
import { unreachable } from './postgres-errors.js'

export type Row = Readonly<Record<string, unknown>>

export type Query = {
  readonly text: string
  /** Buffers are sent as they are. Without values, the text may have several statements, which run as one transaction. */
  readonly values?: readonly unknown[]
  /** More time, for bytes that the answer has. */
  readonly answerBytes?: number
  readonly timeoutMs?: number
}

export interface Queries {
  /** Throws the errors of pg as they are; `Database` translates them. */
  query(query: Query): Promise<readonly Row[]>
  close(): Promise<void>
}

/** The part of a `Pool` or a `Client` of `pg` that Savestate uses. */
export interface PostgresClient {
  query(query: { text: string; values?: unknown[] }): Promise<{ readonly rows: readonly unknown[] }>
}

/** A slow line: 400 kbit/s. */
const BYTES_PER_MS = 50

export function timeoutOf(query: Query, timeoutMs: number): number {
  const sent = (query.values ?? []).reduce<number>(
    (sum, value) => sum + (value instanceof Uint8Array ? value.length : 0),
    0,
  )
  const bytes = sent + (query.answerBytes ?? 0)
  return Math.round((query.timeoutMs ?? timeoutMs) + bytes / BYTES_PER_MS)
}

/** For a client of the caller: its connections are not ours to close. */
export function clientQueries(
  client: PostgresClient,
  { label, timeoutMs }: { readonly label: string; readonly timeoutMs: number },
): Queries {
  return {
    async query(query) {
      const { text, values } = query
      const answer = client.query({
        text,
        ...(values === undefined ? {} : { values: [...values] }),
      })
      const { rows } = await withDeadline(answer, timeoutOf(query, timeoutMs), label)
      return rowsOf(rows)
    },
    close: () => Promise.resolve(),
  }
}

export function rowsOf(rows: readonly unknown[]): readonly Row[] {
  // pg makes objects; the columns are checked where they are read.
  return rows as readonly Row[]
}

/** REMOTE_UNREACHABLE if the promise takes longer. */
export async function withDeadline<T>(
  promise: Promise<T>,
  timeoutMs: number,
  label: string,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(noAnswer(label, timeoutMs)), timeoutMs)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
    // Its error came too late, or is the one that is thrown.
    promise.catch(() => undefined)
  }
}

export function noAnswer(label: string, timeoutMs: number): unknown {
  return unreachable(label, `no answer within ${Math.round(timeoutMs / 1000)} seconds`)
}
