// From what a person typed to a checkpoint of this project, and of no other.
import type { Ledger } from '../ledger/index.js'
import {
  type Checkpoint,
  type FilesCheckpoint,
  hasFiles,
  MIN_PREFIX,
  parseCheckpointId,
  parseReference,
  type Project,
  SavestateError,
} from '../model/index.js'

const LIST_HINT = '`savestate list` shows the checkpoints of this project.'

/** Order: whole id, name, number, start of an id. */
export function resolve(ledger: Ledger, project: Project | undefined, text: string): Checkpoint {
  const reference = parseReference(text)
  if (project === undefined) throw nothingSaved()
  if (reference.type === 'number') {
    const found = ledger.checkpoints.byNumber({ project: project.id }, reference.number)
    if (found !== undefined) return found
    throw unknown(`There is no checkpoint number ${reference.number}`)
  }
  const named =
    byId(ledger, project, text) ?? ledger.checkpoints.byName({ project: project.id }, text)
  if (named !== undefined) return named
  if (text.length < MIN_PREFIX) {
    throw unknown(
      `No checkpoint is named ${JSON.stringify(text)} (the start of an id has ${MIN_PREFIX} letters or more)`,
    )
  }
  const [first, second] = ledger.checkpoints.byPrefix({ project: project.id }, text)
  if (first === undefined)
    throw unknown(`No checkpoint is named ${JSON.stringify(text)}, and no id starts so`)
  if (second === undefined) return first
  throw new SavestateError(
    'CHECKPOINT_AMBIGUOUS',
    `More than one checkpoint id starts with ${JSON.stringify(text)}`,
    {
      hint: `Type more letters. ${LIST_HINT}`,
    },
  )
}

/** For what needs the files of a checkpoint. */
export function withFiles(checkpoint: Checkpoint): FilesCheckpoint {
  if (hasFiles(checkpoint)) return checkpoint
  throw new SavestateError('CHECKPOINT_PARTIAL', `Checkpoint ${checkpoint.id} holds no files`, {
    hint: 'It was saved with a state alone. `savestate rewind --state` goes back to that.',
  })
}

function byId(ledger: Ledger, project: Project, text: string): Checkpoint | undefined {
  if (!/^[a-z]{18}$/.test(text)) return undefined
  try {
    const found = ledger.checkpoints.get(parseCheckpointId(text))
    return found?.project === project.id ? found : undefined
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'BAD_INPUT') return undefined
    throw error
  }
}

function nothingSaved(): SavestateError {
  return new SavestateError('CHECKPOINT_UNKNOWN', 'Nothing has been saved in this folder yet', {
    hint: 'Save it with: savestate save',
  })
}

function unknown(message: string): SavestateError {
  return new SavestateError('CHECKPOINT_UNKNOWN', message, { hint: LIST_HINT })
}
