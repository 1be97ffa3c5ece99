// The only tool that overwrites files. Text that an agent reads can make it call any tool, so two conditions must hold: the user
// has started this server with the switch, and the agent has seen the plan for the current folder.
import { randomBytes } from 'node:crypto'
import { type Effect, shellQuote } from '../base/index.js'
import { NOT_READABLE, type RewindResult, SavestateError } from '../internal.js'
import { z } from './library.js'
import { formatCount, keptForUserLines, notRestoredLines, outsideLines, planLines } from './text.js'
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

const SWITCH = '--allow-agent-rewind'
const MAX_TOKENS = 100

const INPUT = z.strictObject({
  ref: text('Checkpoint to restore: its id, the start of its id, its name or its number'),
  before: flag(
    'Go to just before what the checkpoint names. The row of a tool call holds the files after the call.',
  ),
  paths: texts('Only these files or folders, relative to the project; everything if omitted'),
  keepMine: flag(
    'Keep what the user has changed since the checkpoint: their lines in text files that an agent changed too, and whole files where lines cannot be separated. A change whose author is unknown counts as the user’s.',
  ),
  token: text('The token of the plan to carry out').optional(),
})

/** `isAllowed`: the switch of the user. */
export function rewindTool(effect: Effect, isAllowed: boolean): Tool {
  const tokens = new Map<string, string>()
  return defineTool({
    name: 'checkpoint_rewind',
    title: 'Rewind to a checkpoint',
    description: `Restore the files of the project from a checkpoint. Without a token it changes nothing and returns the plan; show the plan to the user. If the user allows agents to rewind, the plan comes with a token: call again with the same arguments and with that token to carry it out. A token works once, and only while the folder is unchanged. The current files are saved first, so a rewind can be undone.`,
    effect,
    input: INPUT,
    run: async (call) => runRewind(call, { isAllowed, tokens }),
  })
}

async function runRewind(
  { project, given: input, hooks, signal }: ToolCall<z.infer<typeof INPUT>>,
  { isAllowed, tokens }: { readonly isAllowed: boolean; readonly tokens: Map<string, string> },
): Promise<ToolAnswer> {
  const { ref: to, before = false, keepMine = false, token } = input
  const limits = { paths: projectPaths(project, input.paths), keepMine }
  if (token !== undefined && !isAllowed) throw switchedOff(commandFor(to, { ...limits, before }))
  const confirmed = token === undefined ? undefined : tokens.get(token)
  let seen: string | undefined
  const result = await project.rewind(to, {
    before,
    ...limits,
    ...hooks,
    // Called again if the plan has changed since. By then the token is invalid.
    confirm: async (_plan, { mark, now }) => {
      // Agents do not see the folder again before the rewind, so any change of it invalidates a token.
      seen = `${mark} ${now}`
      if (token === undefined || signal.aborted) return false
      return tokens.delete(token) && confirmed === seen
    },
  })
  if (result.applied) return doneAnswer(result)
  if (seen === undefined) return nothingAnswer(result)
  if (token !== undefined) throw stale()
  if (!isAllowed) {
    const command = commandFor(result.target, limits)
    return planAnswer({ ...result, command }, [
      'Nothing has been changed. Only the user may rewind.',
      `Show this to the user, who can run in the project folder: ${command}`,
    ])
  }
  const given = giveToken(tokens, seen)
  return planAnswer({ ...result, token: given }, [
    'Nothing has been changed yet.',
    `To carry it out, call checkpoint_rewind again with the same arguments and the token ${given}`,
  ])
}

/** By the token the agent confirms that it has seen a plan. It is valid once, for one plan and one state of the folder. */
function giveToken(tokens: Map<string, string>, seen: string): string {
  const token = randomBytes(12).toString('hex')
  tokens.set(token, seen)
  // Drop the oldest: a client that only plans must not fill the memory.
  const [oldest] = tokens.keys()
  if (tokens.size > MAX_TOKENS && oldest !== undefined) tokens.delete(oldest)
  return token
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

function planAnswer(
  result: RewindResult & { readonly command?: string; readonly token?: string },
  [first, last]: readonly [string, string],
): ToolAnswer {
  const { target, plan } = result
  const lines = [
    `${first} A rewind to ${target} would write ${formatCount(plan.write.length, 'path')} and remove ${plan.remove.length}:`,
    ...planLines(plan),
    ...notRestoredLines(result.notRestored),
    ...outsideLines(result.outside),
    last,
  ].join('\n')
  return { text: lines, result }
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

/** For a shell in the project folder: the paths are relative to it. */
function commandFor(
  ref: string,
  limits: { readonly paths: readonly string[]; keepMine: boolean; before?: boolean },
): string {
  const options = [
    ...(limits.before === true ? ['--before'] : []),
    ...limits.paths.map((path) => `--path ${shellQuote(path)}`),
    ...(limits.keepMine ? ['--keep-mine'] : []),
  ]
  return ['savestate rewind', shellQuote(ref), ...options].join(' ')
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
