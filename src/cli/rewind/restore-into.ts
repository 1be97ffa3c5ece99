// `pull --into`: restores the newest files of a session that came from a remote, and its conversation if a coding agent can continue it.
import type { Conversation } from '../../agents/index.js'
import type { Project, RewindResult } from '../../index.js'
import type { Request } from '../runtime/command.js'
import { confirmOn } from '../runtime/confirm.js'
import { printableLine } from '../terminal/escape.js'
import { shortIdOf } from '../terminal/short-id.js'
import { goBackQuestion, restoreText, targetText } from './restore-text.js'

export type RestoredInto = {
  /** Null: the session has no files. */
  readonly result: RewindResult | null
  /** For the session of a coding agent. */
  readonly conversation: Conversation | null
}

export async function restoreInto(
  request: Request,
  { session, project }: { readonly session: string; readonly project: Project },
): Promise<RestoredInto> {
  const newest = (await project.list({ session })).find(({ hasFiles }) => hasFiles)
  if (newest === undefined) return { result: null, conversation: null }
  const dryRun = request.options.has('dry-run')
  const result = await project.rewind(newest.id, {
    dryRun,
    ...request.hooks,
    confirm: confirmOn(request, { question: (facts) => goBackQuestion(request, facts) }),
  })
  const { conversations } = await import('../../agents/index.js')
  const { planAtCheckpoint } = await conversations()
  const details = await project.show(newest.id)
  const at = { before: false, folder: project.path }
  const planned = await planAtCheckpoint(await request.store(), details, at)
  if (planned === undefined || result.declined) return { result, conversation: null }
  return { result, conversation: dryRun ? planned.outline : planned.write() }
}

export async function restoredIntoText(
  { result }: RestoredInto,
  request: Request,
): Promise<string> {
  if (result === null) return 'The session has no files: the folder stays as it is.'
  const shown = await shortIdOf(request, result.target)
  return restoreText(result, request, {
    done: `The files are those of ${targetText(printableLine(shown), result.to, request.screen.now)}`,
    nothing: 'the folder already has these files',
    next: 'To take that back: savestate undo',
  })
}
