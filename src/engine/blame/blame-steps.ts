// The snapshots of a project as steps, and the origin that the lines of a step have.
import { isRecord } from '../../base/index.js'
import {
  type Authors,
  authorText,
  type Checkpoint,
  type CheckpointId,
  joinAuthors,
  type ObjectId,
  type Project,
  readCheckpointMoment,
  REWIND,
  shownAuthors,
  USER_AUTHOR,
} from '../../model/index.js'
import { attributeChanges } from '../authorship/note-authors.js'
import type { StoreContext } from '../operation/context.js'

export type BlameStep = {
  /** Undefined for the folder as it is now. */
  readonly id: CheckpointId | undefined
  readonly tree: ObjectId
  readonly authors: Authors
  /** Made by a rewind, an undo or a redo: these bring lines back and write none. */
  readonly isRestored: boolean
}

export type LineOrigin = {
  /**
   * `checkpoint`: the line first appeared in it. `folder`: it is not saved yet. `commit`: it is older than the first checkpoint,
   * and the user's git has it. `older`: it is older than the first checkpoint, and nothing else is known.
   */
  readonly source: 'checkpoint' | 'folder' | 'commit' | 'older'
  readonly checkpoint: string | null
  /** `you`, the name of an agent, several of them joined by `+`, or the author of the commit. Null if unknown. */
  readonly author: string | null
  /** The prompt under which an agent wrote it. */
  readonly prompt: string | null
  /** The tool calls that the checkpoint was made after. */
  readonly tool: string | null
  readonly commit: string | null
  readonly createdAt: Date | null
}

/** Newest first: `now`, which was just captured, and the checkpoints with files. */
export function listSteps(
  context: StoreContext,
  project: Project,
  now: ObjectId,
): readonly BlameStep[] {
  const { ledger } = context
  const damaged = ledger.marks.damaged()
  const steps: BlameStep[] = []
  // A damaged snapshot cannot be read, so its changes appear in the next one.
  let carried: Authors = []
  const add = ({ id, tree, authors: own }: Omit<BlameStep, 'isRestored'>) => {
    const authors = carried?.length === 0 ? own : joinAuthors(carried, own)
    carried = []
    steps.push({ id, tree, authors, isRestored: authors?.length === 1 && authors[0] === REWIND })
  }
  for (const step of ledger.authorship.stepsFrom(project.id)) {
    if (damaged.has(step.id)) carried = joinAuthors(carried, step.authors)
    else add(step)
  }
  const { authors } = attributeChanges(context, project, { type: 'look' })
  add({ id: undefined, tree: now, authors })
  return steps.reverse()
}

export function describeStep({ ledger }: StoreContext, step: BlameStep | undefined): LineOrigin {
  const author = authorText(step?.authors ?? null)
  const nothing = { prompt: null, tool: null, commit: null, createdAt: null }
  if (step?.id === undefined) return { source: 'folder', checkpoint: null, author, ...nothing }
  const checkpoint = ledger.checkpoints.get(step.id)
  const createdAt = checkpoint === undefined ? null : new Date(checkpoint.createdAtMs)
  const work = checkpoint === undefined || isUsersOwn(step.authors) ? {} : workOf(checkpoint)
  return { source: 'checkpoint', checkpoint: step.id, author, ...nothing, ...work, createdAt }
}

/** A prompt says nothing about what the user changed before it or beside the agent. */
function isUsersOwn(authors: Authors): boolean {
  return authors !== null && shownAuthors(authors).every((it) => [USER_AUTHOR, REWIND].includes(it))
}

/** From the metadata that the hooks of agents store. It is no record if it is sealed with a key that was not given. */
function workOf({ session }: Checkpoint): Partial<Pick<LineOrigin, 'prompt' | 'tool'>> {
  if (session === null) return {}
  const metadata = isRecord(session.metadata) ? session.metadata : {}
  const { prompt, calls } = metadata
  const labels = Array.isArray(calls) ? calls.filter((it) => typeof it === 'string') : []
  const isBefore = readCheckpointMoment(metadata) === 'before'
  return {
    prompt: typeof prompt === 'string' && !isBefore ? prompt : null,
    tool: labels.length > 0 ? labels.join('; ') : session.toolCall,
  }
}
