// What the hooks of a session record for each other: the state of the turn, the projects that the session has worked in,
// and the failures that were reported to the user.
import { isAbsolute } from 'node:path'
import { existsSync } from 'node:fs'
import { fieldsOf, isWithin, tryParseJson } from '../../base/index.js'
import { type Project, SavestateError, type Store } from '../../index.js'
import type { AgentEvent } from '../mappers/event.js'
import { type TurnState, NO_TURN_STATE, parseTurnState } from './turn-state.js'

/** A project of the session. One session of ours has one project, so a second project has a session of its own. */
export type Place = {
  readonly root: string
  readonly session: string
  /** The newest rewind there that the session knows of, or that was done before it came there; null for none. */
  readonly rewind?: string | null | undefined
}

export type Notes = {
  readonly turnState: TurnState
  readonly places: readonly Place[]
  /** Codes of failures that were reported. */
  readonly reported: readonly string[]
  /** Folders that no project saves, as far as they were reported to the user. */
  readonly excluded: readonly string[]
}

const NO_NOTES: Notes = { turnState: NO_TURN_STATE, places: [], reported: [], excluded: [] }
const MAX_PLACES = 20

export function parseNotes(text: string | undefined): Notes {
  if (text === undefined) return NO_NOTES
  const fields = fieldsOf(tryParseJson(text))
  const listOf = (key: string): readonly unknown[] => {
    const value = fields[key]
    return Array.isArray(value) ? value : []
  }
  return {
    turnState: parseTurnState(fields['turnState']),
    places: listOf('places').flatMap((item) => {
      const { root, session, rewind } = fieldsOf(item)
      if (typeof root !== 'string' || typeof session !== 'string') return []
      const isKnown = typeof rewind === 'string' || rewind === null
      return [{ root, session, ...(isKnown ? { rewind } : {}) }]
    }),
    reported: listOf('reported').filter((code) => typeof code === 'string'),
    excluded: listOf('excluded').filter((path) => typeof path === 'string'),
  }
}

type Found = {
  readonly place: Place
  readonly project: Project
  /** The folder that the event is about lies in this one, which no project saves. */
  readonly excluded?: string | undefined
}

/**
 * The project that an event is about: the one that captures its folder. An agent that has gone into a folder of its
 * project is still in that project, even if the folder looks like one of its own; but a repository that the project
 * ignores, such as a worktree in `.worktrees`, is a project of its own. Throws PROJECT_REFUSED, PROJECT_MISSING.
 */
export async function findPlace(
  store: Store,
  { places }: Notes,
  { event, cwd }: { readonly event: AgentEvent; readonly cwd: string | undefined },
): Promise<Found> {
  const folder = event.cwd ?? cwd
  const [first] = places
  if (folder === undefined || !isAbsolute(folder)) {
    if (first !== undefined) return { place: first, project: await store.project(first.root) }
    throw new SavestateError('BAD_INPUT', `${event.agent} did not report its working folder`)
  }
  const outer = innermost(places, folder)
  const around = outer && (await store.project(outer.root))
  const located = await around?.locate(folder)
  const project =
    around === undefined || located === undefined
      ? await store.projectFor(folder)
      : located.root === around.path
        ? around
        : await store.project(located.root)
  const root = located?.root ?? project.path
  const excluded = excludedText(located)
  const same = places.find((place) => place.root === root)
  if (same !== undefined) return { place: same, project, excluded }
  // Of one that is gone it is the folder above, with all its neighbours.
  if (!existsSync(folder))
    throw new SavestateError('PROJECT_MISSING', `There is no folder ${JSON.stringify(folder)}`)
  if (places.length >= MAX_PLACES)
    throw new SavestateError('BAD_INPUT', `The session works in more than ${MAX_PLACES} projects`)
  const number = places.length + 1
  const session = number === 1 ? event.sessionId : `${event.sessionId}@${number}`
  return { place: { root, session }, project, excluded }
}

/** The place that the folder lies in, of several the innermost; one that is gone, such as a removed worktree, comes last. */
function innermost(places: readonly Place[], folder: string): Place | undefined {
  const around = places
    .filter(({ root }) => isWithin(root, folder))
    .toSorted((a, b) => b.root.length - a.root.length)
  return around.find(({ root }) => existsSync(root)) ?? around[0]
}

function excludedText(located: Located | undefined): string | undefined {
  return located === undefined || located.excluded === null
    ? undefined
    : `${located.root}/${located.excluded}`
}

const MAX_EXCLUDED = 20

/** The newest of them; a folder that is dropped from the list is reported again. */
export function withExcluded(
  { excluded: known }: Notes,
  folder: string | undefined,
): readonly string[] {
  if (folder === undefined || known.includes(folder)) return known
  return [...known, folder].slice(-MAX_EXCLUDED)
}

export function exclusionText(folder: string): string {
  return `Savestate saves nothing in ${JSON.stringify(folder)}, where the agent works now: an ignore file or a default exclude leaves it out.`
}

type Located = Awaited<ReturnType<Project['locate']>>
