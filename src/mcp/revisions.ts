// The revisions of the protocol. Up to 2025-11-25 a client begins with `initialize` and both keep to what was agreed
// there. Since 2026-07-28 every request says its revision itself. So each request is judged alone, and one connection
// serves both kinds.
import { FAULTS, type Fields, fieldsOf, ProtocolError } from './message.js'

const NEWEST_AGREED = '2025-11-25'
const AGREED = [NEWEST_AGREED, '2025-06-18', '2025-03-26', '2024-11-05']
const STATED = '2026-07-28'
export const REVISIONS: readonly string[] = [STATED, ...AGREED]

const REVISION_KEY = 'io.modelcontextprotocol/protocolVersion'
const SERVER_KEY = 'io.modelcontextprotocol/serverInfo'

/** What the client may keep and for how long: nothing, since the next save changes it. */
const FRESHNESS = { ttlMs: 0, cacheScope: 'private' }
const KEEPABLE = new Set([
  'server/discover',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
])

/** The revision that `initialize` settles on: the client's own if we know it, else the newest of ours. */
export function agreedRevision(params: Fields): string {
  const { protocolVersion } = params
  if (typeof protocolVersion !== 'string')
    throw new ProtocolError(FAULTS.params, 'initialize: protocolVersion is missing')
  return AGREED.includes(protocolVersion) ? protocolVersion : NEWEST_AGREED
}

/** Whether a request states its revision. Throws for one that we do not speak. */
export function statesRevision(params: Fields): boolean {
  const requested = fieldsOf(params['_meta'])?.[REVISION_KEY]
  if (requested === undefined) return false
  if (typeof requested !== 'string')
    throw new ProtocolError(FAULTS.params, `${REVISION_KEY} is not a string`)
  if (requested === STATED || AGREED.includes(requested)) return requested === STATED
  const data = { supported: REVISIONS, requested }
  throw new ProtocolError(FAULTS.revision, 'This protocol revision is not supported', data)
}

/** The result as 2026-07-28 wants it. */
export function statedResult(
  result: Fields,
  { method, server }: { readonly method: string; readonly server: Fields },
): Fields {
  const freshness = KEEPABLE.has(method) ? FRESHNESS : {}
  return { resultType: 'complete', ...result, ...freshness, _meta: { [SERVER_KEY]: server } }
}
