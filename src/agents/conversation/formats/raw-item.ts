// A conversation's entry as its format is read, before texts are masked and cut. Entries come from other programs: each
// function here accepts any value.
import { inspect } from 'node:util'
import { type Fields, fieldsOf, isRecord, tryParseJson } from '../../../base/index.js'
import type { StartedSubagent } from '../items.js'

export type RawPart =
  | { readonly kind: 'prompt' | 'answer' | 'thinking' | 'note'; readonly text: string }
  | {
      readonly kind: 'call'
      readonly id: string
      readonly tool: string
      readonly input: unknown
    }
  | {
      readonly kind: 'result'
      readonly id: string
      readonly isError: boolean
      readonly text: string
      readonly durationMs: number | null
    }

export type RawItem = {
  readonly at: unknown
  readonly subagent: string | null
  readonly parts: readonly RawPart[]
  readonly started?: readonly StartedSubagent[]
  /** A later entry with the same id replaces this one. */
  readonly id?: string
}

/** Undefined: not an entry of this format. */
export type ReadEntry = (entry: Fields) => RawItem | undefined

/** An entry without anything to read, such as a counter of tokens. */
export const BOOKKEEPING: RawItem = { at: null, subagent: null, parts: [] }

/** Without calls that have no id. */
export function startedBy(found: readonly StartedSubagent[]): Pick<RawItem, 'started'> {
  const started = found.filter(({ call }) => call !== '')
  return started.length === 0 ? {} : { started }
}

export function note(text: string): RawPart {
  return { kind: 'note', text }
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

const MAX_ID_CHARS = 200

/** The first text among the values. Cut in the same way for a call and its result. */
export function idIn(...values: readonly unknown[]): string {
  const found = values.find((value) => typeof value === 'string' && value !== '')
  return textIn(found).slice(0, MAX_ID_CHARS)
}

export function numberIn(...values: readonly unknown[]): number | null {
  const found = values.find((value) => typeof value === 'number' && Number.isFinite(value))
  return typeof found === 'number' ? found : null
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Without parts whose text is empty. */
export function withText(parts: readonly RawPart[]): readonly RawPart[] {
  return parts.filter(
    (part) => part.kind === 'call' || part.kind === 'result' || part.text.trim() !== '',
  )
}

/** The arguments of a call, which many models write as JSON in a string. */
export function argumentsIn(value: unknown): unknown {
  const parsed = typeof value === 'string' ? tryParseJson(value) : value
  return isRecord(parsed) || Array.isArray(parsed) ? parsed : value
}

/** Arguments as text: each value after its name, texts with several lines below it. */
export function inputText(input: unknown): string {
  if (typeof input === 'string') return input
  if (!isRecord(input)) return input === undefined || input === null ? '' : jsonText(input)
  return Object.entries(input)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : jsonText(value)
      return text.includes('\n')
        ? `${name}:\n${text.replace(/^(?=.)/gm, '  ')}`
        : `${name}: ${text}`
    })
    .join('\n')
}

const MAX_INDENTED_LEVELS = 8
const MAX_INDENTED_CHARS = 64 * 1024

/** JSON, indented unless that makes it much longer. A value that JSON cannot hold, such as a cycle, is shown as Node prints it. */
export function jsonText(value: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(value)
    if (text === undefined) return String(value)
    const isIndented = text.length <= MAX_INDENTED_CHARS && !isDeeper(value, MAX_INDENTED_LEVELS)
    return isIndented ? JSON.stringify(value, null, 2) : text
  } catch (error) {
    // A cycle or a BigInt, or deeper than the stack.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error
    return inspect(value, { depth: MAX_INDENTED_LEVELS, customInspect: false })
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1))
}

/** The text of a result: a text, a list of blocks, or any other value as JSON. */
export function resultText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (!Array.isArray(value)) {
    const { text, content, output } = fieldsOf(value)
    const inner = [text, content, output].find((one) => typeof one === 'string')
    return typeof inner === 'string' ? inner : jsonText(value)
  }
  return value
    .map((block: unknown) => {
      if (typeof block === 'string') return block
      const { type, text } = fieldsOf(block)
      if (typeof text === 'string') return text
      return typeof type === 'string' && /image|audio|file/.test(type)
        ? `[${type}]`
        : jsonText(block)
    })
    .join('\n')
}
