// What the hooks of a session leave for each other: what the policy remembers, which folders the session has worked
// in, and which failures the person was told of.
import { existsSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { SavestateError, type Store } from '../../index.js'
import type { AgentEvent } from './event.js'
import { type Memory, NO_MEMORY, parseMemory } from './memory.js'
import { recordOf } from './payload.js'

/** A project of the session. One session of ours has one project, so a second project has a session of its own. */
export type Place = {
  readonly root: string
  readonly session: string
  /** The newest rewind there that the session knows of, or that was done before it came there; null for none. */
  readonly rewind?: string | null | undefined
}

export type Notes = {
  readonly memory: Memory
  readonly places: readonly Place[]
  /** Codes of failures that were told. */
  readonly told: readonly string[]
}

const NO_NOTES: Notes = { memory: NO_MEMORY, places: [], told: [] }
const MAX_PLACES = 20

export function parseNotes(text: string | undefined): Notes {
  if (text === undefined) return NO_NOTES
  const fields = recordOf(jsonOrUndefined(text)) ?? {}
  const listOf = (key: string): readonly unknown[] => {
    const value = fields[key]
    return Array.isArray(value) ? value : []
  }
  return {
    memory: parseMemory(fields['memory']),
    places: listOf('places').flatMap((item) => {
      const { root, session, rewind } = recordOf(item) ?? {}
      if (typeof root !== 'string' || typeof session !== 'string') return []
      const isKnown = typeof rewind === 'string' || rewind === null
      return [{ root, session, ...(isKnown ? { rewind } : {}) }]
    }),
    told: listOf('told').filter((code) => typeof code === 'string'),
  }
}

/**
 * The folder that an event is about. An agent that has gone into a folder of its project is still in that project,
 * even if the folder looks like one of its own. Throws PROJECT_REFUSED, PROJECT_MISSING.
 */
export async function findPlace(
  store: Store,
  { places }: Notes,
  { event, cwd }: { readonly event: AgentEvent; readonly cwd: string | undefined },
): Promise<Place> {
  const folder = event.cwd ?? cwd
  const [first] = places
  if (folder === undefined || !isAbsolute(folder)) {
    if (first !== undefined) return first
    throw new SavestateError('BAD_INPUT', `${event.agent} did not report its working folder`)
  }
  const known = places.find(({ root }) => isWithin(root, folder))
  if (known !== undefined) return known
  const { path: root } = await store.projectFor(folder)
  const same = places.find((place) => place.root === root)
  if (same !== undefined) return same
  // Of one that is gone it is the folder above, with all its neighbours.
  if (!existsSync(folder))
    throw new SavestateError('PROJECT_MISSING', `There is no folder ${JSON.stringify(folder)}`)
  if (places.length >= MAX_PLACES)
    throw new SavestateError('BAD_INPUT', `The session works in more than ${MAX_PLACES} projects`)
  const number = places.length + 1
  return { root, session: number === 1 ? event.sessionId : `${event.sessionId}@${number}` }
}

function isWithin(root: string, folder: string): boolean {
  const path = relative(root, folder)
  return path === '' || (!isAbsolute(path) && path.split('/')[0] !== '..')
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
