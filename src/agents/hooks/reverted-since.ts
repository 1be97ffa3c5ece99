// Tells the model at its next turn which files a rewind has changed since it read them. Once per rewind and session, and
// only for rewinds since the session started.
import type { Project, Store } from '../../index.js'

const MAX_FILES = 20
/** Agents truncate contexts of more than a few thousand characters. */
const MAX_CHARACTERS = 1500

export type Reverted = {
  /** The newest rewind, to be recorded as known to the session. */
  readonly newest: string | null
  readonly text: string | undefined
}

/** Never throws; records a failure instead. */
export async function findReverted(
  store: Store,
  project: Project,
  since: string | null | undefined,
): Promise<Reverted | undefined> {
  try {
    const { newest, files } = await project.reverted(since === undefined ? {} : { since })
    return { newest, text: files.length === 0 ? undefined : describeReverted(files) }
  } catch (error) {
    await store
      .recordFailure({ operation: 'report a rewind', project: project.path, error })
      .catch(() => {
        // If the store cannot be written, the save reports that.
      })
    return undefined
  }
}

export function describeReverted(files: readonly string[]): string {
  const shown: string[] = []
  let length = 0
  for (const file of files.slice(0, MAX_FILES)) {
    length += file.length
    if (length > MAX_CHARACTERS) break
    shown.push(file)
  }
  const more = files.length - shown.length
  const list = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
  return `Since your last turn, files of this project were restored to an earlier state with Savestate, so their content may differ from what you have read. Read them again before you rely on them: ${list}.`
}
