// JSON-RPC 2.0, as far as MCP uses it: what a line says, and what is answered.

export type Fields = Readonly<Record<string, unknown>>
export type RequestId = string | number

export type Message =
  | {
      readonly type: 'request'
      readonly id: RequestId
      readonly method: string
      readonly params: Fields
    }
  | { readonly type: 'notification'; readonly method: string; readonly params: Fields }
  /** To a question of ours; we ask none. */
  | { readonly type: 'response' }
  | { readonly type: 'fault'; readonly id: RequestId | null; readonly text: string }

export const FAULTS = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  /** Of the revisions before 2026-07-28; `params` since then. */
  resource: -32002,
  revision: -32022,
} as const

/** Answered as an error of the protocol, in distinction to a tool that did not do its work. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

export function messageOf(json: unknown): Message {
  const fields = fieldsOf(json)
  if (fields === undefined) return { type: 'fault', id: null, text: 'A message is an object' }
  const { jsonrpc, id, method, params = {} } = fields
  const known = isId(id) ? id : null
  if (jsonrpc !== '2.0') return { type: 'fault', id: known, text: 'jsonrpc is not "2.0"' }
  if (method === undefined && ('result' in fields || 'error' in fields)) return { type: 'response' }
  if (typeof method !== 'string')
    return { type: 'fault', id: known, text: 'method is not a string' }
  const given = fieldsOf(params)
  if (given === undefined) return { type: 'fault', id: known, text: 'params is not an object' }
  if (!('id' in fields)) return { type: 'notification', method, params: given }
  if (!isId(id))
    return { type: 'fault', id: null, text: 'id is neither a string nor a whole number' }
  return { type: 'request', id, method, params: given }
}

export function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

export function fieldsOf(value: unknown): Fields | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? Object.fromEntries(Object.entries(value)) : undefined
}

export function faultAnswer(id: RequestId | null, error: ProtocolError): Fields {
  const { code, message, data } = error
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } }
}
