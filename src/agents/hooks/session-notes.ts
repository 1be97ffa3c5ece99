// The notes that the hooks of a session share: the turn state, the projects that the session has worked in, and the failures
// that the user has seen.
import { isAbsolute } from 'node:path'
import { existsSync } from 'node:fs'
import { fieldsOf, isWithin, tryParseJson } from '../../base/index.js'
import { type Project, SavestateError, type Store } from '../../index.js'
import type { AgentEvent } from '../mappers/event.js'
import { type TurnState, NO_TURN_STATE, parseTurnState } from './turn-state.js'

/** A project that the agent's session works in. A session in the store has one project, so each gets its own. */
export type SessionProject = {
  readonly root: string
  readonly session: string
  /** The newest rewind that the session knows of, or that is older than its first event there; null for none. */
  readonly rewind?: string | null | undefined
}

export type Notes = {
  readonly turnState: TurnState
  readonly projects: readonly SessionProject[]
  /** Codes of failures that the user has seen. */
  readonly reported: readonly string[]
  /** Folders that no project saves and that the user was notified about. */
  readonly excluded: readonly string[]
}

const NO_NOTES: Notes = { turnState: NO_TURN_STATE, projects: [], reported: [], excluded: [] }
const MAX_PROJECTS = 20

/** Ignores malformed parts: otherwise every later event of the session would fail. */
export function parseNotes(text: string | undefined): Notes {
  if (text === undefined) return NO_NOTES
  const { turnState, projects, reported, excluded } = fieldsOf(tryParseJson(text))
  return {
    turnState: parseTurnState(turnState),
    projects: listOf(projects).flatMap((item) => {
      const { root, session, rewind } = fieldsOf(item)
      if (typeof root !== 'string' || typeof session !== 'string') return []
      const isKnown = typeof rewind === 'string' || rewind === null
      return [{ root, session, ...(isKnown ? { rewind } : {}) }]
    }),
    reported: listOf(reported).filter((code) => typeof code === 'string'),
    excluded: listOf(excluded).filter((path) => typeof path === 'string'),
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

type Found = {
  readonly sessionProject: SessionProject
  readonly project: Project
  /** The folder, around that of the event, which no project saves. */
  readonly excluded?: string | undefined
}

/**
 * Finds the project that captures the folder of an event. A subfolder of a known project belongs to it, even if it is a
 * repository; but a repository that the project ignores, such as a worktree in `.worktrees`, is a project of its own.
 * Throws PROJECT_REFUSED, PROJECT_MISSING.
 */
export async function findProject(
  store: Store,
  { projects }: Notes,
  { event, cwd }: { readonly event: AgentEvent; readonly cwd: string | undefined },
): Promise<Found> {
  const folder = event.cwd ?? cwd
  const [first] = projects
  if (folder === undefined || !isAbsolute(folder)) {
    if (first !== undefined)
      return { sessionProject: first, project: await store.project(first.root) }
    throw new SavestateError('BAD_INPUT', `${event.agent} did not report its working folder`)
  }
  const outer = innermost(projects, folder)
  const around = outer && (await store.project(outer.root))
  const located = await around?.internals.locate(folder)
  const project =
    around === undefined || located === undefined
      ? await store.projectFor(folder)
      : located.root === around.path
        ? around
        : await store.project(located.root)
  const root = located?.root ?? project.path
  const isExcluded = located !== undefined && located.excluded !== null
  const excluded = isExcluded ? `${located.root}/${located.excluded}` : undefined
  const same = projects.find((sessionProject) => sessionProject.root === root)
  if (same !== undefined) return { sessionProject: same, project, excluded }
  // For a missing folder, projectFor returns the project of its parent, which includes unrelated siblings.
  if (!existsSync(folder))
    throw new SavestateError('PROJECT_MISSING', `There is no folder ${JSON.stringify(folder)}`)
  if (projects.length >= MAX_PROJECTS)
    throw new SavestateError('BAD_INPUT', `The session works in more than ${MAX_PROJECTS} projects`)
  const number = projects.length + 1
  const session = number === 1 ? event.sessionId : `${event.sessionId}@${number}`
  return { sessionProject: { root, session }, project, excluded }
}

/** The innermost project around the folder. Existing projects win over removed ones, such as a deleted worktree. */
function innermost(
  projects: readonly SessionProject[],
  folder: string,
): SessionProject | undefined {
  const around = projects
    .filter(({ root }) => isWithin(root, folder))
    .toSorted((a, b) => b.root.length - a.root.length)
  return around.find(({ root }) => existsSync(root)) ?? around[0]
}

const MAX_EXCLUDED = 20

/** Keeps the newest; the user is notified again about a folder that drops out of the list. */
export function addExcluded(
  { excluded: known }: Notes,
  folder: string | undefined,
): readonly string[] {
  if (folder === undefined || known.includes(folder)) return known
  return [...known, folder].slice(-MAX_EXCLUDED)
}

export function describeExcluded(folder: string): string {
  return `Savestate saves nothing in ${JSON.stringify(folder)}, where the agent works now: an ignore file or a default exclude leaves it out.`
}
