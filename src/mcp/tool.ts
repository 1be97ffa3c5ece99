// Defines a tool: its input schema, its effect, and the hints that follow from the effect.
import { type Effect } from '../base/index.js'
import { type CallOptions, type Project, SavestateError } from '../index.js'
import { z } from './library.js'

export type ToolCall<Given> = {
  readonly project: Project
  readonly given: Given
  readonly hooks: CallOptions
  /** Aborted when the client cancels the request. */
  readonly signal: AbortSignal
}

export type ToolAnswer = {
  /** For clients that pass the text to the model. */
  readonly text: string
  /** For clients that pass only `structuredContent`, such as Claude Code. Defaults to the text. */
  readonly message?: string
  /** The result of the operation. */
  readonly result: object
}

type ToolDescription<Input> = {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly effect: Effect
  readonly input: Input
}

export type Tool = ToolDescription<z.ZodObject> & {
  /** Throws BAD_INPUT if the arguments do not match the schema. The project is opened after that. */
  run(
    given: unknown,
    call: Pick<ToolCall<unknown>, 'hooks' | 'signal'> & {
      readonly project: () => Promise<Project>
    },
  ): Promise<ToolAnswer>
}

export function defineTool<Input extends z.ZodObject>({
  run,
  ...tool
}: ToolDescription<Input> & {
  readonly run: (call: ToolCall<z.infer<Input>>) => Promise<ToolAnswer>
}): Tool {
  return {
    ...tool,
    run: async (given, { project, ...call }) => {
      const checked = tool.input.safeParse(given)
      if (checked.success) return run({ ...call, given: checked.data, project: await project() })
      // List all faults, so that a model can correct them in one call.
      const faults = checked.error.issues.map(({ path, message }) =>
        [...path.map(String), message].join(': '),
      )
      throw new SavestateError('BAD_INPUT', `${tool.name}: ${faults.join('; ').slice(0, 1000)}`, {
        hint: `It takes ${Object.keys(tool.input.shape).join(', ')}.`,
      })
    },
  }
}

const MAX_TEXT = 10_000
const MAX_TEXTS = 1000

/** A string argument that is not empty. */
export function text(description: string, max = MAX_TEXT): z.ZodString {
  return z.string().min(1).max(max).describe(description)
}

export function texts(description: string): z.ZodOptional<z.ZodArray<z.ZodString>> {
  return z.array(z.string().min(1)).max(MAX_TEXTS).describe(description).optional()
}

export function flag(description: string): z.ZodOptional<z.ZodBoolean> {
  return z.boolean().describe(description).optional()
}

export function schemaOf(input: z.ZodObject): { type: 'object' } {
  return { ...z.toJSONSchema(input), type: 'object' }
}

export function hintsOf(effect: Effect): Readonly<Record<string, boolean>> {
  return {
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'changes-files' || effect === 'changes-store',
    idempotentHint: effect === 'reads',
    // Tools use the project folder and the store only.
    openWorldHint: false,
  }
}

/** Agents tend to send absolute paths; operations take paths relative to the project. */
export function projectPaths(project: Project, paths: readonly string[] = []): string[] {
  const root = project.path
  return paths.map((path) => {
    if (path === root) return '.'
    // With `./` in front, a name that starts with a quote is not parsed as a quoteText path.
    return path.startsWith(`${root}/`) ? `.${path.slice(root.length)}` : path
  })
}
