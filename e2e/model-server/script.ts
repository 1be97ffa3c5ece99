// The script of a turn stands in its prompt, as a marked list of steps in JSON. Which step is next follows from
// the conversation alone, so the server remembers nothing: a resumed, forked or nested conversation needs no
// preparation.
import { asList, asRecord, asText, type Json } from './json.js'

export type Step =
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'agent'; readonly prompt: string }
  /** Of an MCP server; agents put something in front of its name. */
  | { readonly kind: 'tool'; readonly name: string; readonly given: Json }
  /** Several calls in one answer of the model. */
  | { readonly kind: 'together'; readonly steps: readonly Step[] }
  | { readonly kind: 'say'; readonly text: string }
  /** The model's interface answers with this HTTP status. */
  | { readonly kind: 'fail'; readonly status: number }
  /** Made by the server where an agent waits for its subagents by a call of its own. */
  | { readonly kind: 'wait' }

/** What a test writes down: one key per step. */
export type ScriptStep =
  | { readonly write: string; readonly content: string }
  | { readonly delete: string }
  | { readonly shell: string }
  | { readonly tool: string; readonly given: Json }
  | { readonly agent: readonly ScriptStep[]; readonly title?: string }
  | { readonly together: readonly ScriptStep[] }
  | { readonly say: string }
  | { readonly fail: number }

const MARKED = /<steps>([\s\S]*?)<\/steps>/g

/** A prompt for an agent: a title that a person can read, and the script. */
export function scripted(title: string, steps: readonly ScriptStep[]): string {
  // No newline: one agent puts a prompt with several lines through a shell of its own.
  return `${title} <steps>${JSON.stringify(steps)}</steps>`
}

export function hasScript(text: string): boolean {
  return text.match(MARKED) !== null
}

/** The last script in a text: an agent may join an unanswered prompt with the next one. */
export function stepsIn(text: string): readonly Step[] {
  const last = [...text.matchAll(MARKED)].at(-1)
  if (last === undefined) return []
  const steps: unknown = JSON.parse(last[1] ?? '')
  return asList(steps).map((step) => parseStep(asRecord(step)))
}

function parseStep(step: Json): Step {
  if ('write' in step) {
    return { kind: 'write', path: asText(step['write']), content: asText(step['content']) }
  }
  if ('delete' in step) return { kind: 'delete', path: asText(step['delete']) }
  if ('shell' in step) return { kind: 'shell', command: asText(step['shell']) }
  if ('tool' in step) {
    return { kind: 'tool', name: asText(step['tool']), given: asRecord(step['given']) }
  }
  if ('agent' in step) {
    const title = asText(step['title']) || 'subtask'
    return {
      kind: 'agent',
      prompt: `${title} <steps>${JSON.stringify(step['agent'])}</steps>`,
    }
  }
  if ('together' in step) {
    const steps = asList(step['together']).map((inner) => parseStep(asRecord(inner)))
    return { kind: 'together', steps }
  }
  if ('say' in step) return { kind: 'say', text: asText(step['say']) }
  if (typeof step['fail'] === 'number') return { kind: 'fail', status: step['fail'] }
  throw new Error(`No step of a script: ${JSON.stringify(step)}`)
}
