// Validates payloads of agents: fields that we read must have the expected type, all others are kept unchanged.
import { type AgentName, type Fields, isRecord } from '../../base/index.js'
import { SavestateError } from '../../index.js'

const MAX_ID = 200
const MAX_TOOL_NAME = 500
const MAX_PATH = 16_384

export class Payload {
  readonly #agent: AgentName
  readonly #eventName: string
  readonly #fields: Fields
  readonly #used = new Set<string>()

  /** Throws BAD_INPUT unless it is an object. */
  constructor(agent: AgentName, eventName: string, payload: unknown) {
    this.#agent = agent
    this.#eventName = eventName
    const fields = isRecord(payload) ? payload : undefined
    if (fields === undefined) throw this.malformed('it is not an object')
    this.#fields = fields
  }

  malformed(why: string): SavestateError {
    return new SavestateError(
      'BAD_INPUT',
      `The event ${JSON.stringify(this.#eventName.slice(0, MAX_ID))} from ${this.#agent} is malformed: ${why}`,
    )
  }

  /** Undefined if absent or null. */
  value(key: string): unknown {
    this.#used.add(key)
    return this.#field(key)
  }

  /** The same, but it stays part of `rest`. */
  peek(key: string): unknown {
    return this.#field(key)
  }

  text(key: string): string | undefined {
    const value = this.value(key)
    if (value === undefined || typeof value === 'string') return value
    throw this.malformed(`${key} is not a string`)
  }

  /** A short text; undefined if empty. */
  id(key: string): string | undefined {
    return this.#short(key, MAX_ID)
  }

  path(key: string): string | undefined {
    return this.#short(key, MAX_PATH)
  }

  toolName(key: string): string {
    return this.needed(key, MAX_TOOL_NAME)
  }

  needed(key: string, max = MAX_ID): string {
    const text = this.#short(key, max)
    if (text === undefined) throw this.malformed(`${key} is missing`)
    return text
  }

  /** A nested object. It stays part of `rest`. */
  inner(key: string): Payload | undefined {
    const fields = this.#field(key)
    if (fields === undefined) return undefined
    if (!isRecord(fields)) throw this.malformed(`${key} is not an object`)
    return new Payload(this.#agent, this.#eventName, fields)
  }

  /** The first string of a list. */
  firstOf(key: string): string | undefined {
    const list = this.value(key)
    if (list === undefined) return undefined
    if (!Array.isArray(list)) throw this.malformed(`${key} is not a list`)
    const first: unknown = list[0]
    if (first === undefined) return undefined
    if (typeof first === 'string' && isShort(first, MAX_PATH)) return first
    throw this.malformed(`${key} contains no path`)
  }

  /** The fields that were not read. */
  rest(): Fields {
    return Object.fromEntries(Object.entries(this.#fields).filter(([key]) => !this.#used.has(key)))
  }

  #field(key: string): unknown {
    return Object.hasOwn(this.#fields, key) ? (this.#fields[key] ?? undefined) : undefined
  }

  #short(key: string, max: number): string | undefined {
    const text = this.text(key)
    if (text === undefined || text === '') return undefined
    if (isShort(text, max)) return text
    throw this.malformed(`${key} is too long, or contains a NUL`)
  }
}

function isShort(text: string, max: number): boolean {
  return text.length <= max && !text.includes('\0')
}
