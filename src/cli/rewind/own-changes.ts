// Finds the user's own changes since a checkpoint, if agents have changed files too.
import { type Project, SavestateError } from '../../index.js'
import { hasSeveralAuthors } from '../render/checkpoint-table.js'
import type { Request } from '../runtime/command.js'

type OwnChanges = {
  readonly mine: ReadonlySet<string>
  /** True if only the user has changed files, in a project where agents work. */
  readonly isAllMine: boolean
}

export const NO_OWN_CHANGES: OwnChanges = { mine: new Set(), isAllMine: false }

export async function ownersSince(project: Project, id: string): Promise<OwnChanges> {
  const { changes } = await project.diff(id, { patch: 'none' })
  const isMine = ({ author }: (typeof changes)[number]) =>
    author?.split('+').includes('you') === true
  const known = changes.filter(({ type, author }) => type !== 'folder' && author !== null)
  const isAllMine = known.length > 0 && known.every(({ author }) => author === 'you')
  const mine = isAllMine ? [] : known.filter(isMine).map(({ path }) => path)
  return { mine: new Set(mine), isAllMine }
}

/** The user's own changes since the target of a rewind; empty if the plan is not shown. */
export async function mineInPlan(
  request: Request,
  target: { readonly to: string; readonly before: boolean },
): Promise<ReadonlySet<string>> {
  const { options, hooks } = request
  const isShown = options.has('dry-run') || !options.has('yes')
  if (!isShown || request.isJson || options.has('keep-mine')) return NO_OWN_CHANGES.mine
  const project = await request.project()
  if (!hasSeveralAuthors(await project.list())) return NO_OWN_CHANGES.mine
  try {
    const found = await project.internals.target(target.to, { before: target.before, ...hooks })
    return (await ownersSince(project, found.target.id)).mine
  } catch (error) {
    // The rewind itself reports the error.
    if (error instanceof SavestateError) return NO_OWN_CHANGES.mine
    throw error
  }
}

/** All paths that the user has changed since the checkpoint, and those whose author is unknown. */
export async function changedByUserSince(
  project: Project,
  id: string,
): Promise<ReadonlySet<string>> {
  const { changes } = await project.diff(id, { patch: 'none' })
  const mine = changes.filter(
    ({ type, author }) => type !== 'folder' && (author?.split('+').includes('you') ?? true),
  )
  return new Set(mine.map(({ path }) => path))
}
