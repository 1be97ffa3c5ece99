// The conversation of a session, in slices: the stored list may have 50 MB.
import * as z from 'zod/mini'
import {
  type ConversationFormat,
  conversationItems,
  readUncopied,
  subagents,
} from '../../agents/index.js'
import { type ListAtOptions, SavestateError, type Session } from '../../internal.js'
import type { SessionPoint } from '../api.js'
import { index, limit, optional, text } from './inputs.js'
import type { MethodOf, PageContext } from './method.js'
import { explainUnavailable } from './plan-conversation.js'

const MAX_ITEMS = 500

const sessionPoint = () => ({
  session: text(),
  ref: optional(text()),
  reveal: optional(z.boolean()),
  call: optional(text()),
  agent: optional(text()),
})

export const session: MethodOf<'session'> = {
  input: z.strictObject({ session: text() }),
  changes: false,
  async run({ session: id }, context) {
    const found = (await context.store.sessions()).find((one) => one.id === id)
    if (found === undefined)
      throw new SavestateError('SESSION_UNKNOWN', `No session has the id ${JSON.stringify(id)}`)
    const { summary: _summary, ...view } = found
    return readSession(context, id, async (opened, format) => {
      const { total, lengths, problem } = await readLengths(opened, format)
      const rows = [...(await opened.list())].reverse()
      return {
        session: { ...view, metadata: context.jsonOf(view.metadata) },
        total,
        problem,
        checkpoints: rows.map((row) => ({ ...row, items: lengths.get(row.id) ?? null })),
      }
    })
  },
}

export const items: MethodOf<'items'> = {
  input: z.strictObject({ ...sessionPoint(), from: index(), limit: limit(MAX_ITEMS) }),
  changes: false,
  run: async ({ from, limit: most, ...point }, context) =>
    readSession(context, point.session, async (opened, format) => {
      const slice = await readPoint(opened, format, { ...point, from, limit: most })
      const { readConversationItems } = await conversationItems()
      const how = { format, firstIndex: from, reveal: mayReveal(context, point) }
      const read = readConversationItems(slice.items, how)
      // All entries of a subagent's file have its id.
      const own = point.call === undefined ? read : read.map((one) => ({ ...one, subagent: null }))
      return { items: own, total: slice.total }
    }),
}

export const more: MethodOf<'more'> = {
  input: z.strictObject({ ...sessionPoint(), index: index(), part: index(), offset: index() }),
  changes: false,
  run: async ({ index: from, part, offset, ...point }, context) =>
    readSession(context, point.session, async (opened, format) => {
      const { items: entries } = await readPoint(opened, format, { ...point, from, limit: 1 })
      const { readItemText } = await conversationItems()
      return readItemText(entries[0], {
        format,
        part,
        offset,
        reveal: mayReveal(context, point),
      })
    }),
}

/** A page for others to read never shows secrets. */
function mayReveal({ isReadOnly }: PageContext, { reveal = false }: SessionPoint): boolean {
  return reveal && !isReadOnly
}

type Stored = Readonly<Record<'transcript' | 'messages', readonly unknown[]>>

/** Without a lease, so it works while an agent writes. */
async function readSession<Result>(
  { store }: PageContext,
  id: string,
  read: (session: Session<Stored>, format: ConversationFormat) => Promise<Result>,
): Promise<Result> {
  const { formatOf } = await conversationItems()
  const opened = await store.session<Stored>(id, { create: false, lease: false })
  try {
    return await read(opened, formatOf((await opened.latest())?.sessionAgent ?? null))
  } finally {
    await opened.close()
  }
}

/** The range of the session's own conversation, or of that of a subagent. */
async function readPoint(
  opened: Session<Stored>,
  format: ConversationFormat,
  { ref, call, agent, from, limit: most }: SessionPoint & Omit<ListAtOptions, 'ref'>,
): Promise<Slice> {
  if (call === undefined) return readSlice(opened, format, { ref, from, limit: most })
  const { readSubagent } = await subagents()
  const lines = readSubagent((await opened.head())?.metadata, { format, call, agent })
  return { items: lines.slice(from, from + most), total: lines.length }
}

type Slice = { readonly items: readonly unknown[]; readonly total: number; key?: keyof Stored }

/** Without a key if there is no conversation. */
async function readSlice(
  opened: Session<Stored>,
  format: ConversationFormat,
  range: ListAtOptions,
): Promise<Slice> {
  const { conversationKey } = await conversationItems()
  // A program that uses the SDK may have given its session the name of a coding agent.
  for (const key of new Set([conversationKey(format), 'messages'] as const)) {
    const slice = await readList(opened, key, range)
    if (slice === undefined) continue
    const isWhole = key === 'transcript' && range.ref === undefined
    return { ...(isWhole ? await addUncopied(opened, slice, range) : slice), key }
  }
  return { items: [], total: 0 }
}

/** The agent has written lines since the last checkpoint, at least its last answer. */
async function addUncopied(opened: Session<Stored>, stored: Slice, range: ListAtOptions) {
  const lines = readUncopied((await opened.head())?.metadata)
  const from = Math.max(0, range.from - stored.total)
  const to = Math.max(0, range.from + range.limit - stored.total)
  return {
    items: [...stored.items, ...lines.slice(from, to)],
    total: stored.total + lines.length,
  }
}

/** If the state at the end of the session is lost, the newest one before it: one lost state must not hide the conversation. */
async function readList(opened: Session<Stored>, key: keyof Stored, range: ListAtOptions) {
  let failure: SavestateError | undefined
  try {
    const slice = await opened.listAt(key, range)
    if (slice !== undefined || range.ref !== undefined) return slice
  } catch (error) {
    if (range.ref !== undefined || !isDamage(error)) throw error
    failure = error
  }
  const lengths = await opened.listLengths(key)
  const ref = lengths.findLast(({ length }) => length !== null)?.id
  if (lengths.at(-1)?.damaged === true && ref !== undefined)
    return opened.listAt(key, { ...range, ref })
  if (failure !== undefined) throw failure
  return undefined
}

function isDamage(error: unknown): error is SavestateError {
  return error instanceof SavestateError && DAMAGE.includes(error.code)
}

const DAMAGE: readonly string[] = ['CHECKPOINT_DAMAGED', 'STORE_DAMAGED']

async function readLengths(opened: Session<Stored>, format: ConversationFormat) {
  try {
    const { total, key } = await readSlice(opened, format, { from: 0, limit: 1 })
    const known = await opened.listLengths(key ?? 'messages')
    // After a repair, a checkpoint whose state was lost has none.
    const isLost = key === undefined && known.at(-1)?.damaged === true
    const lengths = new Map(known.map(({ id, length }) => [id, length]))
    return { total, lengths, problem: isLost ? 'The store has lost the conversation.' : null }
  } catch (error) {
    const problem = explainUnavailable(error)
    return { total: 0, lengths: new Map<string, number | null>(), problem }
  }
}
