// The one tool that overwrites files. A text that an agent reads can make it call any tool, so no word of an agent is
// enough here: the person must have started this server with the switch, and the agent must have been shown the plan
// for the folder as it is now.
import { NOT_READABLE, type PlanFacts, type RewindResult, SavestateError } from '../index.js'
import type { Confirmations } from './confirmations.js'
import { counted, personsLines, planLines } from './text.js'
import { projectPaths, type Tool, type ToolAnswer, type ToolCall } from './tool.js'

export const SWITCH = '--allow-agent-rewind'

export type RewindRules = {
  /** The person's switch. */
  readonly isAllowed: boolean
  readonly confirmations: Confirmations
}

export async function runRewind(call: ToolCall, rules: RewindRules): Promise<ToolAnswer> {
  const { project, given, hooks, signal } = call
  const token = given.text('token')
  const to = given.needed('ref')
  const limits = {
    paths: projectPaths(project, given.texts('paths')),
    keepMine: given.flag('keepMine'),
  }
  if (token !== undefined && !rules.isAllowed) throw switchedOff(commandFor(to, limits))
  let facts: PlanFacts | undefined
  const result = await project.rewind(
    { to, ...limits },
    {
      ...hooks,
      // Between plan and deed, under the project's lock: what is confirmed is what will be done.
      confirm: async (plan, made) => {
        facts = made
        if (token === undefined || signal.aborted) return false
        return rules.confirmations.take(token, { ...made, ...limits, plan })
      },
    },
  )
  if (result.applied) return doneAnswer(result)
  if (facts === undefined) return nothingAnswer(result)
  if (token !== undefined) throw stale()
  if (!rules.isAllowed) return adviceAnswer(result, commandFor(result.target, limits))
  return planAnswer(result, rules.confirmations.give({ ...facts, ...limits, plan: result.plan }))
}

export const REWIND_TOOL: Omit<Tool, 'effect' | 'run'> = {
  name: 'checkpoint_rewind',
  title: 'Go back to a checkpoint',
  description: `Bring the files of the project back to a checkpoint. Without a token it changes nothing and answers with the plan; show that to the person. If the person has allowed agents to rewind, the plan comes with a token: call again with the same ref, paths and keepMine and that token to carry it out. A token is good once, and only while the folder stays as it was. What is there now is saved first, so a rewind can be undone.`,
  specs: {
    ref: {
      type: 'text',
      description: 'Checkpoint to go back to: its id, the start of one, its name or number',
      isRequired: true,
    },
    paths: {
      type: 'texts',
      description: 'Only these files or folders, relative to the project; everything if left out',
    },
    keepMine: {
      type: 'flag',
      description:
        'Leave every file as it is that the person has changed since the checkpoint, also if an agent has changed it as well. What nobody knows the author of counts as changed by the person.',
    },
    token: { type: 'text', description: 'The token of the plan that is to be carried out' },
  },
}

function nothingAnswer(result: RewindResult): ToolAnswer {
  const { keep } = result.plan
  const persons = personsLines(keep)
  const unread = keep.filter(({ reason }) => reason === NOT_READABLE)
  const same =
    unread.length === 0 ? 'the folder is as it was then' : 'nothing differs but what cannot be read'
  const why = persons.length === 0 ? same : 'what differs was changed by the person'
  const lines = unread.map(({ path, reason }) => `keep ${path} (${reason})`)
  return { text: [`Nothing to do: ${why}.`, ...lines, ...persons].join('\n'), result }
}

function planAnswer(result: RewindResult, token: string): ToolAnswer {
  const text = [
    `Nothing has been changed yet. ${planHead(result)}`,
    ...planLines(result.plan),
    `To carry it out, call checkpoint_rewind again with the same arguments and token ${token}`,
  ].join('\n')
  return { text, result: { ...result, token } }
}

function adviceAnswer(result: RewindResult, command: string): ToolAnswer {
  const text = [
    `Nothing has been changed, and you may not do it: a rewind is for the person to decide. ${planHead(result)}`,
    ...planLines(result.plan),
    `Show this to the person, who can run in the project's folder: ${command}`,
  ].join('\n')
  return { text, result: { ...result, command } }
}

function doneAnswer(result: RewindResult): ToolAnswer {
  const { target, plan, safety } = result
  const files = `${counted(plan.write.length, 'path')} written, ${plan.remove.length} removed`
  const text = [
    `Went back to ${target}: ${files}. Files that you have read before may have changed.`,
    ...planLines(plan),
    `What was there before is checkpoint ${safety}. The person can undo this with: savestate undo`,
  ].join('\n')
  return { text, result }
}

function planHead({ target, plan }: RewindResult): string {
  return `Going back to ${target} would write ${counted(plan.write.length, 'path')} and remove ${plan.remove.length}:`
}

/** For a shell. The paths are those of the project, so it is to be run there. */
function commandFor(
  ref: string,
  { paths, keepMine }: { readonly paths: readonly string[]; readonly keepMine: boolean },
): string {
  const limits = [
    ...paths.map((path) => `--path ${word(path)}`),
    ...(keepMine ? ['--keep-mine'] : []),
  ]
  return ['savestate rewind', word(ref), ...limits].join(' ')
}

function word(text: string): string {
  return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function switchedOff(command: string): SavestateError {
  return new SavestateError('AGENT_REWIND_OFF', 'Agents may not rewind here. Nothing was changed', {
    hint: `Ask the person to run: ${command}\nOnly the person can allow it to agents, by starting this server as: savestate mcp ${SWITCH}`,
  })
}

function stale(): SavestateError {
  return new SavestateError(
    'PLAN_STALE',
    'Nothing was changed: the folder is not as it was when the plan was made, or the token is for another plan or spent',
    { hint: 'Call checkpoint_rewind without a token to see the plan as it is now.' },
  )
}
