// The type of a tool, and the hints that follow from the effect of its operation.
import type { Effect, Hooks, Project } from '../index.js'
import type { Arguments, ArgumentSpecs } from './arguments.js'
import type { Fields } from './message.js'

export type ToolCall = {
  readonly project: Project
  readonly given: Arguments
  readonly hooks: Hooks
  /** Aborted when the client cancels the request. */
  readonly signal: AbortSignal
}

export type ToolAnswer = {
  /** For clients that hand the text to the model. */
  readonly text: string
  /** For clients that hand it `structuredContent` only, as Claude Code does. The text if left out. */
  readonly message?: string
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
    // Tools use the project folder and the store only.
    openWorldHint: false,
  }
}

/** Agents tend to send absolute paths; operations take paths relative to the project. */
export function projectPaths(project: Project, paths: readonly string[]): string[] {
  const root = project.path
  return paths.map((path) => {
    if (path === root) return '.'
    // With `./` in front, a name that starts with a quote is not parsed as a quoted path.
    return path.startsWith(`${root}/`) ? `.${path.slice(root.length)}` : path
  })
}
