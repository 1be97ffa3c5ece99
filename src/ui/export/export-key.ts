// How an exported page finds the answer of a request. The server and the browser both use it, so it imports nothing.

/** The element of the page that contains the answers. */
export const DATA_ID = 'savestate-export'

export type ExportedData = {
  readonly madeAt: string
  /** Which parts the file does not contain. */
  readonly leftOut: readonly string[]
  readonly answers: Readonly<Record<string, unknown>>
}

/**
 * Equal for equal inputs. An exported patch has one context only, and its secrets are always masked. The call alone names a
 * subagent: which of its ids the page knows depends on the items that it has loaded.
 */
export function exportKey(method: string, input: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(input)
    .filter(([name, value]) => value !== undefined && !UNUSED.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return `${method} ${JSON.stringify(fields)}`
}

const UNUSED: readonly string[] = ['context', 'reveal', 'agent']
