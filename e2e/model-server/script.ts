// The script of a turn is in its prompt, as a marked list of steps in JSON. The conversation alone determines the next
// step, so the server keeps no state: resumed, forked and nested conversations need no
// preparation.
import { asList, asRecord, asText, type Json } from './json.js'

export type Step =
  | { readonly kind: 'write'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'shell'; readonly command: string }
  | { readonly kind: 'agent'; readonly prompt: string }
  /** A tool of an MCP server; agents add a prefix to its name. */
  | { readonly kind: 'tool'; readonly name: string; readonly given: Json }
  /** Several calls in one answer of the model. */
  | { readonly kind: 'together'; readonly steps: readonly Step[] }
  | { readonly kind: 'say'; readonly text: string }
  /** The API answers with this HTTP status. */
  | { readonly kind: 'fail'; readonly status: number }
  /** Added by the server for agents that wait for subagents with a separate call. */
  | { readonly kind: 'wait' }

/** A script as tests write it: one key per step. */
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

/** A prompt for an agent: a readable title, and the script. */
export function scripted(title: string, steps: readonly ScriptStep[]): string {
  // No newline: one agent passes a prompt with several lines through a shell.
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
