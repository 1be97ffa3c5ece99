// Parses untyped requests of agents; a missing field reads as empty.

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

/** Text unchanged, anything else as JSON: results have both forms. */
export function asReadable(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** In some dialects the arguments of a call are JSON text; other text stays unchanged. */
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
