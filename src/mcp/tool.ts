// What a tool is, and how what it says of itself follows from what its operation does.
import type { Effect, Hooks, Project } from '../index.js'
import type { Arguments, ArgumentSpecs } from './arguments.js'
import type { Fields } from './message.js'

export type ToolCall = {
  readonly project: Project
  readonly given: Arguments
  readonly hooks: Hooks
  /** Aborted when the client takes the request back. */
  readonly signal: AbortSignal
}

export type ToolAnswer = {
  /** For the model. */
  readonly text: string
  /** The operation's result. */
  readonly result: object
}

export type Tool = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly effect: Effect
  readonly specs: ArgumentSpecs
  run(call: ToolCall): Promise<ToolAnswer>
}

export function hintsOf(effect: Effect): Fields {
  return {
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'changes-files' || effect === 'changes-store',
    idempotentHint: effect === 'reads',
    // Nothing but the folder and the store is spoken to.
    openWorldHint: false,
  }
}

/** Agents like whole paths; operations take them from the project on. */
export function projectPaths(project: Project, paths: readonly string[]): string[] {
  const root = project.path
  return paths.map((path) => {
    if (path === root) return '.'
    // With the dot a name that begins with a quote is not read as one in quotes.
    return path.startsWith(`${root}/`) ? `.${path.slice(root.length)}` : path
  })
}
