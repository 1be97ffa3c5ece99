// The line of commits that leads to one of them, in somebody else's repository.
import { hasCode, type ObjectId, parseObjectId, SavestateError } from '../../model/index.js'
import type { TreeAdopter } from './adopt-tree.js'
import type { SourceObjects } from './source-objects.js'
import { refused } from './source-tree.js'

export type SourceCommit = {
  readonly id: ObjectId
  readonly tree: ObjectId
  readonly createdAtMs: number
  readonly subject: string
  /** Why its files cannot be brought in; null if nothing is known against it. */
  readonly fault: string | null
}

export type SourceHistory = {
  /** Oldest first. */
  readonly commits: readonly SourceCommit[]
  /** What of the history is not in `commits`, and why. */
  readonly problems: readonly { readonly commit: string; readonly message: string }[]
}

const MAX_COMMIT_BYTES = 1 << 20
/** The end of the year 9999, beyond which a time cannot be written. */
const MAX_SECONDS = 253_402_300_799

type ParsedCommit = Omit<SourceCommit, 'id' | 'fault'> & { readonly parents: readonly ObjectId[] }

/** A commit that cannot be read ends the way back: those before it are not known. */
export async function readHistory(
  tip: ObjectId,
  { source, adopter }: { readonly source: SourceObjects; readonly adopter: TreeAdopter },
): Promise<SourceHistory> {
  const commits: SourceCommit[] = []
  const problems: { commit: string; message: string }[] = []
  for (let id: ObjectId | undefined = tip; id !== undefined; ) {
    let parsed: ParsedCommit
    try {
      parsed = parseCommit(await source.read('commit', { id, maxBytes: MAX_COMMIT_BYTES }))
    } catch (error) {
      const before = commits.length === 0 ? '' : '; its earlier history is not known'
      problems.push({ commit: id, message: `${messageOf(error)}${before}` })
      break
    }
    const { parents, ...facts } = parsed
    if (parents.length > 1) {
      const message = 'it has more than one parent; only the first was followed'
      problems.push({ commit: id, message })
    }
    commits.push({ id, ...facts, fault: await faultOf(adopter, facts.tree) })
    id = parents[0]
  }
  return { commits: commits.reverse(), problems }
}

async function faultOf(adopter: TreeAdopter, tree: ObjectId): Promise<string | null> {
  try {
    await adopter.check(tree)
    return null
  } catch (error) {
    return messageOf(error)
  }
}

/** What is wrong with the source; anything else is thrown again. */
function messageOf(error: unknown): string {
  if (error instanceof SavestateError && hasCode(error, 'BAD_INPUT')) return error.message
  throw error
}

export function parseCommit(bytes: Buffer | number): ParsedCommit {
  if (typeof bytes === 'number') throw refused('the commit is too large')
  const end = bytes.indexOf('\n\n')
  const head = bytes.toString('utf8', 0, end === -1 ? bytes.length : end).split('\n')
  const tree = /^tree ([0-9a-f]{40})$/.exec(head[0] ?? '')?.[1]
  if (tree === undefined) throw refused('the commit is malformed')
  const parents = head.flatMap((line) => /^parent ([0-9a-f]{40})$/.exec(line)?.[1] ?? [])
  const author = head.find((line) => line.startsWith('author '))
  const seconds = Number(/> ([0-9]{1,12}) [-+][0-9]{4}$/.exec(author ?? '')?.[1])
  // NaN is not within either.
  if (!(seconds <= MAX_SECONDS)) throw refused('the commit has no time')
  return {
    tree: parseObjectId(tree),
    parents: parents.map(parseObjectId),
    createdAtMs: seconds * 1000,
    subject: end === -1 ? '' : subjectOf(bytes.toString('utf8', end + 2)),
  }
}

/** As git takes it: the lines up to the first empty one. Line by line, which takes no longer for many blanks. */
function subjectOf(message: string): string {
  const subject: string[] = []
  for (const line of message.trimStart().split('\n')) {
    if (line.trim() === '') break
    subject.push(line.replaceAll('\0', '').trim())
  }
  return subject.filter((words) => words !== '').join(' ')
}
