// The only tool that overwrites files. Text that an agent reads can make it call any tool, so two conditions must hold: the user
// has started this server with the switch, and the agent has seen the plan for the current folder.
import { type Effect, shellQuote } from '../base/index.js'
import { NOT_READABLE, type PlanDetails, type RewindResult, SavestateError } from '../internal.js'
import type { Confirmations } from './confirmations.js'
import { z } from './library.js'
import { formatCount, keptForUserLines, notRestoredLines, planLines } from './text.js'
import {
  defineTool,
  flag,
  projectPaths,
  text,
  texts,
  type Tool,
  type ToolAnswer,
  type ToolCall,
} from './tool.js'

export const SWITCH = '--allow-agent-rewind'

export type RewindRules = {
  /** The switch of the user. */
  readonly isAllowed: boolean
  readonly confirmations: Confirmations
}

const INPUT = z.strictObject({
  ref: text('Checkpoint to restore: its id, the start of its id, its name or its number'),
  before: flag(
    'Go to just before what the checkpoint names. The row of a tool call holds the files after the call.',
  ),
  paths: texts('Only these files or folders, relative to the project; everything if omitted'),
  keepMine: flag(
    'Keep every file that the user has changed since the checkpoint, even if an agent has changed it too. A change whose author is unknown counts as the user’s.',
  ),
  token: text('The token of the plan to carry out').optional(),
})

export function rewindTool(effect: Effect, rules: RewindRules): Tool {
  return defineTool({
    name: 'checkpoint_rewind',
    title: 'Rewind to a checkpoint',
    description: `Restore the files of the project from a checkpoint. Without a token it changes nothing and returns the plan; show the plan to the user. If the user allows agents to rewind, the plan comes with a token: call again with the same arguments and with that token to carry it out. A token works once, and only while the folder is unchanged. The current files are saved first, so a rewind can be undone.`,
    effect,
    input: INPUT,
    run: async (call) => runRewind(call, rules),
  })
}

async function runRewind(
  { project, given, hooks, signal }: ToolCall<z.infer<typeof INPUT>>,
  rules: RewindRules,
): Promise<ToolAnswer> {
  const { ref: to, before = false, keepMine = false, token } = given
  const limits = { paths: projectPaths(project, given.paths), keepMine }
  if (token !== undefined && !rules.isAllowed)
    throw switchedOff(commandFor(to, { ...limits, before }))
  let confirmed: PlanDetails | undefined
  const result = await project.rewind(to, {
    before,
    ...limits,
    ...hooks,
    // Called again if the plan has changed since. By then the token is invalid.
    confirm: async (_plan, made) => {
      confirmed = made
      if (token === undefined || signal.aborted) return false
      return rules.confirmations.take(token, made)
    },
  })
  if (result.applied) return doneAnswer(result)
  if (confirmed === undefined) return nothingAnswer(result)
  if (token !== undefined) throw stale()
  if (!rules.isAllowed) return adviceAnswer(result, commandFor(result.target, limits))
  return planAnswer(result, rules.confirmations.give(confirmed))
}

function nothingAnswer(result: RewindResult): ToolAnswer {
  const { keep } = result.plan
  const kept = keptForUserLines(keep)
  const unread = keep.filter(({ reason }) => reason === NOT_READABLE)
  const same =
    unread.length === 0
      ? 'the folder already matches the checkpoint'
      : 'only files that cannot be read differ'
  const why = kept.length === 0 ? same : 'all differences are changes of the user'
  const lines = unread.map(({ path, reason }) => `keep ${path} (${reason})`)
  return { text: [`Nothing to do: ${why}.`, ...lines, ...kept].join('\n'), result }
}

function planAnswer(result: RewindResult, token: string): ToolAnswer {
  const lines = [
    `Nothing has been changed yet. ${planHead(result)}`,
    ...planLines(result.plan),
    ...notRestoredLines(result.notRestored),
    `To carry it out, call checkpoint_rewind again with the same arguments and the token ${token}`,
  ].join('\n')
  return { text: lines, result: { ...result, token } }
}

function adviceAnswer(result: RewindResult, command: string): ToolAnswer {
  const lines = [
    `Nothing has been changed. Only the user may rewind. ${planHead(result)}`,
    ...planLines(result.plan),
    ...notRestoredLines(result.notRestored),
    `Show this to the user, who can run in the project folder: ${command}`,
  ].join('\n')
  return { text: lines, result: { ...result, command } }
}

function doneAnswer(result: RewindResult): ToolAnswer {
  const { target, plan, safety } = result
  const files = `${formatCount(plan.write.length, 'path')} written, ${plan.remove.length} removed`
  const lines = [
    `Rewound to ${target}: ${files}. Files that you read earlier may have changed; read them again.`,
    ...planLines(plan),
    `The files from before the rewind are in checkpoint ${safety}. The user can undo this with: savestate undo`,
  ].join('\n')
  return { text: lines, result }
}

function planHead({ target, plan }: RewindResult): string {
  return `A rewind to ${target} would write ${formatCount(plan.write.length, 'path')} and remove ${plan.remove.length}:`
}

/** For a shell in the project folder: the paths are relative to it. */
function commandFor(
  ref: string,
  {
    paths,
    keepMine,
    before = false,
  }: {
    readonly paths: readonly string[]
    readonly keepMine: boolean
    readonly before?: boolean
  },
): string {
  const limits = [
    ...(before ? ['--before'] : []),
    ...paths.map((path) => `--path ${shellQuote(path)}`),
    ...(keepMine ? ['--keep-mine'] : []),
  ]
  return ['savestate rewind', shellQuote(ref), ...limits].join(' ')
}

function switchedOff(command: string): SavestateError {
  return new SavestateError('AGENT_REWIND_OFF', 'Agents may not rewind here. Nothing was changed', {
    hint: `Ask the user to run: ${command}\nOnly the user can let agents rewind, by starting this server as: savestate mcp ${SWITCH}`,
  })
}

function stale(): SavestateError {
  return new SavestateError(
    'PLAN_STALE',
    'Nothing was changed: the folder has changed since the plan was made, or the token was used already or belongs to another plan',
    { hint: 'Call checkpoint_rewind without a token to get a new plan.' },
  )
}
