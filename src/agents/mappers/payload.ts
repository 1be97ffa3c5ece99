// Reads payloads at the door: what is used of them has the type it must have, everything else is kept as it is.
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

  /** Throws BAD_INPUT for what is not an object. */
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

  /** Absent and null are undefined. */
  value(key: string): unknown {
    this.#used.add(key)
    return this.#look(key)
  }

  text(key: string): string | undefined {
    const value = this.value(key)
    if (value === undefined || typeof value === 'string') return value
    throw this.malformed(`${key} is not a string`)
  }

  /** A short name of something. An empty one is none. */
  id(key: string): string | undefined {
    return this.#short(key, MAX_ID)
  }

  path(key: string): string | undefined {
    return this.#short(key, MAX_PATH)
  }

  toolName(key: string): string {
    const name = this.#short(key, MAX_TOOL_NAME)
    if (name === undefined) throw this.malformed(`${key} is missing`)
    return name
  }

  needed(key: string): string {
    const id = this.id(key)
    if (id === undefined) throw this.malformed(`${key} is missing`)
    return id
  }

  /** An object inside, read in the same way; undefined if there is none. It stays part of the rest. */
  inner(key: string): Payload | undefined {
    const fields = this.#look(key)
    if (fields === undefined) return undefined
    if (!isRecord(fields)) throw this.malformed(`${key} is not an object`)
    return new Payload(this.#agent, this.#eventName, fields)
  }

  /** The first text of a list. */
  firstOf(key: string): string | undefined {
    const list = this.value(key)
    if (list === undefined) return undefined
    if (!Array.isArray(list)) throw this.malformed(`${key} is not a list`)
    const first: unknown = list[0]
    if (first === undefined) return undefined
    if (typeof first === 'string' && isShort(first, MAX_PATH)) return first
    throw this.malformed(`${key} contains no path`)
  }

  /** What was not asked for. */
  rest(): Fields {
    return Object.fromEntries(Object.entries(this.#fields).filter(([key]) => !this.#used.has(key)))
  }

  #look(key: string): unknown {
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
