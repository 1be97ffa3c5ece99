// Finds the folder here that a project of a remote belongs to. Clones of one repository are one project, wherever they are; a path of
// another machine means nothing.
import { mkdirSync } from 'node:fs'
import {
  bytePath,
  type BytePath,
  fsPath,
  isIdForm,
  joinPath,
  makeId,
  parseProjectId,
  pathText,
  printablePath,
  type Project,
  type ProjectId,
  type RemoteProject,
  SavestateError,
  type Session,
} from '../../../model/index.js'
import { ensureProject, type StoreContext } from '../../operation/context.js'
import { moveProject } from '../../projects/move-project.js'
import { readParentIdentity, readProjectState } from '../../projects/project-state.js'
import { linkProject, remoteProjectOf } from '../../sharing/index.js'

/**
 * The folder here that is this project: it was linked to it, or has the same origin. `folder` is preferred, also if it was never saved.
 * Undefined if there is none.
 */
export function findSameProject(
  context: StoreContext,
  wanted: RemoteProject,
  folder: BytePath | undefined,
): Project | undefined {
  const known = context.ledger.projects().map(({ project }) => project)
  const here = folder === undefined ? undefined : projectHere(context, known, folder)
  const candidates = here === undefined ? known : [here, ...known]
  const viewed = candidates.map((project) => ({
    project,
    there: remoteProjectOf(context, project),
  }))
  const isSame = ({ there }: (typeof viewed)[number]) => there.id === wanted.id
  const hasOrigin = ({ there }: (typeof viewed)[number]) =>
    wanted.origin !== null && there.origin === wanted.origin
  const found =
    viewed.find((it) => it.project === here && (isSame(it) || hasOrigin(it))) ??
    viewed.find(isSame) ??
    viewed.find(hasOrigin)
  return found === undefined ? undefined : ensureLinked(context, found.project.path, wanted)
}

/** From now on the folder is that project of the remote. Creates its project here. */
export function ensureLinked(
  context: StoreContext,
  path: BytePath,
  wanted: Pick<RemoteProject, 'id'>,
): Project {
  const project = ensureProject({ ...context, path })
  linkProject(context, project, wanted)
  return project
}

/**
 * The session belongs to the project from now on. If it belongs to one whose folder is gone, that whole history moves. Throws BAD_INPUT
 * if it belongs to another folder.
 */
export async function attachSession(
  context: StoreContext,
  { id, project: attached }: Session,
  project: Project,
): Promise<void> {
  const { ledger } = context
  if (attached === project.id) return
  if (attached === null) {
    ledger.sharing.setProject(id, project.id)
    return
  }
  const summary = ledger.projects().find((it) => it.project.id === attached)
  const { path } = summary?.project ?? project
  if (summary === undefined || readProjectState(path, summary) === 'live')
    throw new SavestateError(
      'BAD_INPUT',
      `The session ${JSON.stringify(id)} belongs to ${printablePath(path)}`,
      { hint: 'Work in that folder, or fork the session.' },
    )
  await moveProject.run(context, { from: pathText(path), to: pathText(project.path) }, {})
}

/**
 * A project without a folder, for a backup that is brought back: `savestate move` gives it its place. Its parent folder exists and is
 * empty, so no prune takes the project for one that was deleted. It keeps its id if it can, so that what is saved in it continues its log.
 */
export function placeholderProject(context: StoreContext, wanted: RemoteProject): Project {
  const parent = bytePath(`${context.home}-pulled`)
  mkdirSync(fsPath(parent), { recursive: true, mode: 0o700 })
  const name = wanted.name.replaceAll(/[/\0]/g, '_').slice(0, MAX_NAME_CHARS)
  const usual = joinPath(parent, bytePath(/^\.{0,2}$/.test(name) ? '_' : name))
  const isTaken = context.ledger.projectAt(usual) !== undefined
  const path = isTaken ? bytePath(`${usual}-${wanted.id}`) : usual
  const project = context.ledger.ensureProject({
    id: freeIdFor(context, wanted),
    path,
    createdAtMs: context.clock.nowMs(),
    ...readParentIdentity(path),
  })
  linkProject(context, project, wanted)
  return project
}

function freeIdFor({ ledger, clock }: StoreContext, { id }: RemoteProject): ProjectId {
  const isFree = isIdForm(id) && ledger.sharing.projectOf({ kind: 'project', id }) === null
  return parseProjectId(isFree ? id : makeId(clock.random))
}

const MAX_NAME_CHARS = 60

function projectHere({ clock }: StoreContext, known: readonly Project[], path: BytePath): Project {
  const found = known.find((project) => project.path === path)
  // Never stored: only its origin is compared.
  return found ?? { id: parseProjectId(makeId(clock.random)), path }
}
