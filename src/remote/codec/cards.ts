// The parts of a log that `sessions --remote` and SESSION_BUSY show: its card, its holder, its project. Each is JSON, sealed if there is a key.
import { isRecord } from '../../base/index.js'
import type { LogCard, LogHolder, LogName, RemoteProject } from '../../model/index.js'
import type { DriverHead, DriverProject } from '../driver.js'
import type { LogHead } from '../remote.js'
import type { Codec } from './codec.js'
import type { RemoteContext } from './remote-key.js'

/** A head with more is not one that this program wrote, and is not fetched: a list has the heads of all logs. */
export const MAX_CARD_BYTES = 32 << 10
/** The limit of the id of a log or a project: no index of PostgreSQL takes a longer text, unless it can be compressed. */
export const MAX_ID_CHARS = 2704
/** Four texts, each character as JSON writes it at worst, and the envelope are shorter than the limit. */
const MAX_CARD_CHARS = 1000

/** A list shows a line of each text, so a long reason is cut. The session itself has all of it. */
export function encodeCard(codec: Codec, log: LogName, card: LogCard): Uint8Array {
  const short: LogCard = {
    ...card,
    agent: cut(card.agent),
    project: cut(card.project),
    reason: cut(card.reason),
    statusReason: cut(card.statusReason),
  }
  return codec.encodeJson(short, cardContext(log))
}

/** Equal holders have equal bytes: a remote recognizes a claim that is sent again. */
export function encodeHolder(codec: Codec, holder: LogHolder): Uint8Array {
  return codec.encodeJson(holder, HOLDER_CONTEXT, { isRepeatable: true })
}

export function encodeProject(codec: Codec, project: RemoteProject): DriverProject {
  const { id, ...card } = project
  return { id, card: codec.encodeJson(card, ['project', id]) }
}

export function decodeHead(codec: Codec, { card, project, holder, ...head }: DriverHead): LogHead {
  return {
    ...head,
    card: card === null ? null : decodeCard(codec, head.log, card),
    project: project === null ? null : decodeProject(codec, project),
    holder: holder === null ? null : decodeHolder(codec, holder),
  }
}

/** A claim does not know yet which log it takes, so the log is not in the context. */
const HOLDER_CONTEXT: RemoteContext = ['holder']

function cardContext(log: LogName): RemoteContext {
  return ['card', log.kind, log.id]
}

function decodeCard(codec: Codec, log: LogName, bytes: Uint8Array): LogCard {
  const card = codec.decodeJson(bytes, cardContext(log))
  if (isCard(card)) return card
  throw codec.damaged(`the card of ${log.kind} ${log.id}`)
}

function decodeHolder(codec: Codec, bytes: Uint8Array): LogHolder {
  const holder = codec.decodeJson(bytes, HOLDER_CONTEXT)
  if (isHolder(holder)) return holder
  throw codec.damaged('the holder of a log')
}

function decodeProject(codec: Codec, { id, card }: DriverProject): RemoteProject {
  const value = codec.decodeJson(card, ['project', id])
  if (!isRecord(value)) throw codec.damaged(`project ${id}`)
  const { name, origin } = value
  if (typeof name !== 'string' || !isTextOrNull(origin)) throw codec.damaged(`project ${id}`)
  return { id, name, origin }
}

function isCard(value: unknown): value is LogCard {
  if (!isRecord(value)) return false
  const { agent, project, steps, reason, statusReason, ages } = value
  return (
    [agent, project, reason, statusReason].every(isTextOrNull) &&
    Number.isSafeInteger(steps) &&
    (ages === null || (isRecord(ages) && [ages['fromMs'], ages['untilMs']].every(Number.isFinite)))
  )
}

function isHolder(value: unknown): value is LogHolder {
  if (!isRecord(value) || !isRecord(value['owner'])) return false
  const { host, pid, boot, startedAt, namespace } = value['owner']
  return (
    Number.isFinite(value['sinceMs']) &&
    Number.isSafeInteger(pid) &&
    [host, boot, startedAt].every((it) => typeof it === 'string') &&
    (namespace === undefined || typeof namespace === 'string')
  )
}

function cut(text: string | null): string | null {
  return text === null || text.length <= MAX_CARD_CHARS
    ? text
    : `${text.slice(0, MAX_CARD_CHARS - 1)}…`
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}
