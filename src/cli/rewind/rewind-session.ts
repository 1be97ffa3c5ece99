// The part of `rewind` for SDK sessions: the state, alone or with the files.
import { type CheckpointView, type SessionRewindResult, SavestateError } from '../../index.js'
import type { Request } from '../runtime/command.js'
import { confirmOn } from '../runtime/confirm.js'
import { folderOf } from '../runtime/open-session.js'
import { isNothing } from '../render/plan-text.js'
import { printableLine } from '../terminal/escape.js'
import { goBackQuestion, keptText, nothingText, restoreText } from './restore-text.js'
import { programFor, quoteForShell } from '../terminal/shell-quote.js'

export type SessionRewind = {
  readonly result: SessionRewindResult
  readonly session: string
  readonly step: number | null
  /** The newest checkpoint of the session before the rewind. */
  readonly left: string
  /** `savestate`, with the -C that its project needs. */
  readonly program: string
  readonly shortIds: ReadonlyMap<string, string>
}

export async function rewindSession(
  request: Request,
  { restore, target }: { readonly restore: 'state' | 'both'; readonly target: CheckpointView },
): Promise<SessionRewind> {
  const { options, hooks } = request
  const store = await request.store()
  if (target.session === null) throw withoutSession(target.id)
  const project = options.has('session') ? undefined : await request.project()
  const dryRun = options.has('dry-run')
  const session = await store.session(target.session, {
    create: false,
    lease: !dryRun,
    ...(project === undefined ? {} : { project }),
  })
  const left = (await session.latest())?.id ?? target.id
  // Before the rewind, which may remove the current folder.
  const program = await programOf(target.session, request)
  const confirm = confirmOn(request, { question: (context) => goBackQuestion(request, context) })
  const before = options.has('before')
  const result = await session.rewind(target.id, {
    restore,
    before,
    keepMine: options.has('keep-mine'),
    dryRun,
    ...hooks,
    confirm,
  })
  await session.close()
  return {
    result,
    session: target.session,
    step: result.to?.step ?? null,
    left,
    program,
    shortIds: await (await request.store()).shortIds([result.target, left]),
  }
}

/** The current folder may not be a project. */
const NO_PROJECT: readonly string[] = ['PROJECT_REFUSED', 'PROJECT_MISSING']

/** With --session, the session may belong to another project. */
async function programOf(session: string, request: Request): Promise<string> {
  const own = request.options.has('session') ? await folderOf(await request.store(), session) : null
  if (own === null) return programFor(request.options)
  const here = await request.project().catch((error: unknown) => {
    if (!(error instanceof SavestateError) || !NO_PROJECT.includes(error.code)) throw error
    return undefined
  })
  return own === here?.path ? programFor(request.options) : `savestate -C ${quoteForShell(own)}`
}

export function sessionRewindText(rewind: SessionRewind, request: Request): string {
  const { result, session, step, left, program } = rewind
  const { options } = request
  const state = `the state of ${printableLine(session)}`
  const target = `${rewind.shortIds.get(result.target)} (step ${step})`
  const isDry = options.has('dry-run')
  if (result.restored === 'both' && !isNothing(result.plan)) {
    const done = `Rewound the folder and ${state} to ${target}`
    const next = `Undo with: ${program} undo`
    const text = restoreText(result, request, { done, nothing: '', next })
    return isDry ? `${capitalize(state)} would go back to ${target}.\n${text}` : text
  }
  const { keep } = result.plan
  const isBoth = result.restored === 'both'
  const folder = isBoth ? `; ${nothingText(keep, 'the folder is as it was then')}` : ''
  const kept = isBoth ? keptText(keep, request.screen.paint) : ''
  if (isDry)
    return `${capitalize(state)} would go back to ${target}${folder}.${kept}\nA dry run: nothing has been changed.`
  const of = options.has('session') ? ` --session ${quoteForShell(session)}` : ''
  const back = `Go back with: ${program} rewind ${rewind.shortIds.get(left)}${of} --state`
  return `Rewound ${state} to ${target}${folder}.${left === result.target ? '' : ` ${back}`}${kept}`
}

function withoutSession(id: string): SavestateError {
  return new SavestateError('BAD_INPUT', `Checkpoint ${id} belongs to no session`, {
    hint: 'It has no conversation and no state to go back to. `savestate rewind --files` brings back its files.',
  })
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
