// Parsing at the door: what agents send is untyped, and a field that is not there reads as empty.

export type Json = Readonly<Record<string, unknown>>

export function asRecord(value: unknown): Json {
  return isRecord(value) ? value : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Text as it is, anything else as JSON: results come in both forms. */
export function asReadable(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Arguments of a call come as JSON text in some dialects; text that is no JSON stays what it is. */
export function parseArguments(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
