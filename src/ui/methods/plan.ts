// `plan`: what a rewind, undo, redo or the undo of a step would do. It is a dry run of the same operation and changes nothing.
import * as z from 'zod/mini'
import { commandLine } from '../../base/index.js'
import { type Project, SavestateError } from '../../internal.js'
import type { Plan, PlanInput, Restored } from '../api.js'
import { hunkChoices, inProject, optional, text } from './inputs.js'
import type { MethodOf, PageContext, Sent } from './method.js'
import {
  type ConversationWay,
  describeWay,
  explainUnavailable,
  findProblem,
  findWay,
  type RewindInput,
} from './plan-conversation.js'
import { isChange, type MadePlan, planLines } from './plan-lines.js'
import { restoreFiles } from './restore-files.js'

export const plan: MethodOf<'plan'> = {
  input: z.discriminatedUnion('kind', [
    z.strictObject({
      ...inProject(),
      kind: z.literal('rewind'),
      ref: text(),
      before: optional(z.boolean()),
      restore: z.enum(['files', 'conversation', 'both']),
      keepMine: optional(z.boolean()),
      hunks: optional(hunkChoices()),
    }),
    z.strictObject({
      ...inProject(),
      kind: z.literal('undoStep'),
      ref: text(),
      conflict: optional(z.enum(['refuse', 'ours', 'theirs', 'markers'])),
    }),
    z.strictObject({ ...inProject(), kind: z.literal('undo') }),
    z.strictObject({ ...inProject(), kind: z.literal('redo') }),
  ]),
  changes: false,
  async run(given, context) {
    const project = await context.project(given.project)
    const input = await fixTarget(project, given)
    const draft = await makeDraft(context, project, input)
    const { made, texts } = draft
    const lines = made === undefined ? [] : await planLines(project, made)
    const now = made?.details.now ?? null
    const target = made?.details.target ?? null
    const goal = made?.details.goal ?? null
    const isWhole = input.kind === 'rewind' && input.hunks === undefined
    const canSelect = isWhole && input.restore !== 'conversation'
    // The engine refuses a conflict unless the path is left out.
    const hasWay = canSelect || lines.every(({ action }) => action !== 'conflict')
    const isPossible = draft.isPossible && hasWay
    const hasWork = draft.hasOtherWork || lines.some(isChange)
    const canApply = isPossible && hasWork && !context.isReadOnly
    return {
      token: canApply ? context.tokens.give({ input, now, target, goal, lines }) : null,
      kind: input.kind,
      ...texts,
      goal: target,
      lines,
      canSelect,
      notRestored: made?.details.notRestored ?? [],
      outside: made?.details.outside ?? [],
      runningSession: await runningSession(context, input.project),
      command: commandFor(input),
      madeAt: new Date(),
    }
  },
}

/** By its id: a number or a name may be another checkpoint when the plan is carried out. */
async function fixTarget(project: Project, input: PlanInput): Promise<PlanInput> {
  if (!('ref' in input)) return input
  return { ...input, ref: (await project.internals.target(input.ref)).named.id }
}

type Draft = {
  /** Undefined if no file is part of it. */
  readonly made: MadePlan | undefined
  /** Everything that was asked for can go back. */
  readonly isPossible: boolean
  /** There is something to do even if no file changes. */
  readonly hasOtherWork: boolean
  readonly texts: Pick<
    Sent<Plan>,
    'restore' | 'target' | 'rewoundAt' | 'unavailable' | 'conversation'
  >
}

function makeDraft(context: PageContext, project: Project, input: PlanInput): Promise<Draft> {
  if (input.kind === 'rewind') return planRewind(context, project, input)
  if (input.kind === 'undoStep') return planUndoStep(context, project, input)
  return planReversal(context, input)
}

async function planRewind(
  context: PageContext,
  project: Project,
  input: RewindInput,
): Promise<Draft> {
  const { restore, hunks } = input
  if (hunks !== undefined && restore !== 'files')
    throw new SavestateError('BAD_INPUT', 'Single changes can be chosen only for files alone')
  const { named } = await project.internals.target(input.ref)
  const details = await project.show(named.id)
  const way = restore === 'files' ? undefined : await findWay(context, details, input)
  const { made, problem } =
    restore === 'conversation'
      ? { made: undefined, problem: named.hasFiles ? null : NO_FILES }
      : await tryFiles(context, input, way)
  const unavailable = {
    files: problem,
    conversation:
      way === undefined ? await findProblem(details) : way.type === 'none' ? way.problem : null,
  }
  return {
    made,
    isPossible: way?.type !== 'none' && (restore === 'conversation' || problem === null),
    hasOtherWork: way !== undefined && way.type !== 'none',
    texts: {
      restore,
      target: made?.details.to ?? named,
      rewoundAt: null,
      unavailable,
      conversation: way === undefined ? null : describeWay(way),
    },
  }
}

const NO_FILES = 'The checkpoint has no files.'

async function tryFiles(
  context: PageContext,
  input: PlanInput,
  way?: ConversationWay,
): Promise<{ readonly made: MadePlan | undefined; readonly problem: string | null }> {
  try {
    return { made: await dryRun(context, input, { way }), problem: null }
  } catch (error) {
    return { made: undefined, problem: explainUnavailable(error) }
  }
}

/** Also finds out, for `apply`, how the folder is now. */
export async function dryRun(
  context: PageContext,
  input: PlanInput,
  options: { readonly way?: ConversationWay | undefined; readonly paths?: readonly string[] },
): Promise<MadePlan> {
  let made: MadePlan | undefined
  await restoreFiles(context, input, {
    ...options,
    dryRun: true,
    onPlan: (shown, details) => {
      made = { plan: shown, details }
    },
  })
  if (made === undefined) throw new Error('A dry run has made no plan')
  return made
}

type UndoStepInput = Extract<PlanInput, { readonly kind: 'undoStep' }>

async function planUndoStep(
  context: PageContext,
  project: Project,
  input: UndoStepInput,
): Promise<Draft> {
  const { named } = await project.internals.target(input.ref)
  const { made, problem } = await tryFiles(context, input)
  return {
    made,
    isPossible: problem === null,
    hasOtherWork: false,
    texts: {
      restore: 'files',
      target: named,
      rewoundAt: null,
      unavailable: { files: problem, conversation: null },
      conversation: null,
    },
  }
}

async function planReversal(
  context: PageContext,
  input: Exclude<PlanInput, RewindInput | UndoStepInput>,
): Promise<Draft> {
  const made = await dryRun(context, input, {})
  const { session, conversation, rewoundAt = null, to } = made.details
  const restore: Restored = session === undefined ? 'files' : 'both'
  const sentences = [
    session === undefined ? [] : `The state of the session ${session} changes too.`,
    conversation === undefined
      ? []
      : `The conversation of ${conversation.agent} was rewound with the files. It stays as it is; the command to continue the other one is shown afterwards.`,
  ].flat()
  return {
    made,
    isPossible: true,
    // An undo that finds its files already restored is recorded: otherwise it would block every earlier one.
    hasOtherWork: session !== undefined || made.plan.keep.length === 0,
    texts: {
      restore,
      target: to,
      rewoundAt,
      unavailable: { files: null, conversation: null },
      conversation: sentences.length === 0 ? null : sentences.join(' '),
    },
  }
}

/** A session in progress whose process is alive. */
async function runningSession({ store }: PageContext, project: string): Promise<string | null> {
  const query = { project, status: 'in_progress', interrupted: false, limit: 1 } as const
  return (await store.sessions(query))[0]?.id ?? null
}

export function commandFor(input: PlanInput): string {
  const program = ['savestate', '-C', input.project]
  if (input.kind === 'undoStep') {
    const { ref, conflict = 'refuse' } = input
    const choice = conflict === 'refuse' ? [] : [`--conflict=${conflict}`]
    return commandLine([...program, 'undo', ref, ...choice])
  }
  if (input.kind !== 'rewind') return commandLine([...program, input.kind])
  const { ref, before, restore, keepMine, hunks = [] } = input
  return commandLine([
    ...program,
    'rewind',
    ref,
    ...(before === true ? ['--before'] : []),
    ...(restore === 'files' ? [] : [`--${restore}`]),
    ...(keepMine === true ? ['--keep-mine'] : []),
    ...(hunks.length === 0 ? [] : ['--patch', ...hunks.flatMap(({ path }) => ['--path', path])]),
  ])
}
