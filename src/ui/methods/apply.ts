// `apply`: carries out exactly the plan that was shown, or fails with PLAN_STALE and changes nothing.
import * as z from 'zod/mini'
import { commandLine } from '../../base/index.js'
import { continueCommand } from '../../agents/index.js'
import { type RewindResult, SavestateError } from '../../internal.js'
import type { Applied, PlanInput } from '../api.js'
import { optional, paths, text } from './inputs.js'
import type { MethodOf, PageContext, Sent } from './method.js'
import { commandFor, dryRun } from './plan.js'
import {
  type ConversationWay,
  findWay,
  type RewindInput,
  rewindState,
} from './plan-conversation.js'
import { expectShown, isChange, refuseReplacedAbove, selectPaths } from './plan-lines.js'
import { type ShownPlan, stalePlan } from './plan-tokens.js'
import { restoreFiles } from './restore-files.js'

export const apply: MethodOf<'apply'> = {
  input: z.strictObject({ token: text(), paths: optional(paths()) }),
  changes: true,
  async run({ token, paths: wanted }, context) {
    const shown = context.tokens.take(token)
    const { input } = shown
    if (input.kind !== 'rewind') {
      refuseSelection(wanted)
      const result = await applyFiles(context, { shown })
      const { session, conversation } = result
      const command = conversation === undefined ? null : continueOriginal(input, conversation)
      const done = await describeDone(context, input, result)
      return { ...done, restore: session === undefined ? 'files' : 'both', command }
    }
    const { restore, hunks } = input
    if (hunks !== undefined) refuseSelection(wanted)
    const way = restore === 'files' ? undefined : await findWayAgain(context, input)
    if (restore !== 'conversation') {
      const result = await applyFiles(context, { shown, way, wanted })
      const done = await describeDone(context, input, result)
      return { ...done, restore, command: writeCopy(way, input) }
    }
    refuseSelection(wanted)
    if (way?.type === 'state') await rewindState(context.store, { ...input, ...way, dryRun: false })
    return {
      restore,
      written: 0,
      removed: 0,
      safety: null,
      rewoundAt: null,
      command: writeCopy(way),
    }
  },
}

type FilesToApply = {
  readonly shown: ShownPlan
  readonly way?: ConversationWay | undefined
  readonly wanted?: readonly string[] | undefined
}

async function applyFiles(
  context: PageContext,
  { shown, way, wanted }: FilesToApply,
): Promise<RewindResult> {
  const { input, lines } = shown
  const changing = new Set(lines.filter(isChange).map(({ path }) => path))
  const chosen = wanted === undefined ? changing : new Set(wanted)
  if ([...chosen].some((path) => !changing.has(path)))
    throw new SavestateError('BAD_INPUT', 'A selected path is not part of the plan')
  const hasConflict = lines.some(({ action }) => action === 'conflict')
  if (hasConflict && wanted === undefined)
    throw new SavestateError('REWIND_CONFLICT', 'A path that no checkpoint has is in the way', {
      hint: 'Leave it out, or move it away.',
    })
  if (chosen.size === changing.size && !hasConflict)
    return carryOut(context, { shown, way, selected: changing })
  const selected = selectPaths(lines, chosen)
  if (selected.size === 0)
    throw new SavestateError('BAD_INPUT', 'Nothing is selected', {
      hint: 'A folder can be restored only with everything in it. Select a file.',
    })
  // The plan for some paths may scan less of the folder (docs/internals/rewind-and-rules.md), so its snapshot may have another id.
  // The folder is the shown one if the plan for all of it still has the shown id.
  const only = [...selected]
  const partial = await dryRun(context, input, { way, paths: only })
  refuseReplacedAbove(partial, chosen)
  const planned = lines.filter(({ action }) => action !== 'keep').map(({ path }) => path)
  expectShown(await dryRun(context, input, { way }), shown, new Set(planned))
  const { now, goal } = partial.details
  return carryOut(context, { shown: { ...shown, now, goal }, way, selected, only })
}

async function carryOut(
  context: PageContext,
  {
    shown,
    way,
    selected,
    only,
  }: Pick<FilesToApply, 'shown' | 'way'> & {
    readonly selected: ReadonlySet<string>
    readonly only?: readonly string[]
  },
): Promise<RewindResult> {
  const result = await restoreFiles(context, shown.input, {
    way,
    paths: only,
    dryRun: false,
    onPlan: (plan, details) => expectShown({ plan, details }, shown, selected),
  })
  if (!result.applied && selected.size > 0) throw new Error('A shown plan was not carried out')
  return result
}

async function describeDone(
  context: PageContext,
  { project, kind }: PlanInput,
  { plan, safety }: RewindResult,
): Promise<Omit<Sent<Applied>, 'restore' | 'command'>> {
  const canUndo = kind !== 'undo' && safety !== null
  const { undo } = canUndo ? await (await context.project(project)).reversals() : { undo: null }
  const [written, removed] = [plan.write.length, plan.remove.length]
  return { written, removed, safety, rewoundAt: undo?.rewoundAt ?? null }
}

/** The plan keeps only the request: a conversation may be large. Throws PLAN_STALE if it cannot go back any more. */
async function findWayAgain(context: PageContext, input: RewindInput): Promise<ConversationWay> {
  const project = await context.project(input.project)
  const way = await findWay(context, await project.show(input.ref), input)
  if (way.type === 'none') throw stalePlan(`the conversation cannot go back: ${way.problem}`)
  return way
}

/** For a coding agent: the file with the conversation, and the command that continues it. `after`: files were restored before. */
function writeCopy(way: ConversationWay | undefined, after?: RewindInput): string | null {
  if (way?.type !== 'agent') return null
  try {
    const { command } = way.plan.write()
    return command === null ? null : commandLine(command)
  } catch (error) {
    if (!(error instanceof SavestateError) || after === undefined) throw error
    const again = commandFor({ ...after, restore: 'conversation' })
    throw new SavestateError(error.code, error.message, {
      hint: `The files were restored, but the conversation was not. Try it again: ${again}`,
      cause: error,
    })
  }
}

/** After an undo, the conversation from before the rewind; after a redo, the way back to the one of the rewind. */
function continueOriginal(
  input: Exclude<PlanInput, RewindInput>,
  conversation: NonNullable<RewindResult['conversation']>,
): string | null {
  const command = input.kind === 'undo' ? continueCommand(conversation) : null
  return command === null ? null : commandLine(command)
}

function refuseSelection(wanted: readonly string[] | undefined): void {
  if (wanted === undefined) return
  throw new SavestateError('BAD_INPUT', 'Paths can be selected only for a rewind of whole files')
}
