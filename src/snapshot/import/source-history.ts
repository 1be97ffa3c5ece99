// The heads of a foreign repository, read from its files because git would use that repository's configuration, and the first-parent
// history of a commit.
import { readdirSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { fsPath, hasCode, type ObjectId, parseObjectId, SavestateError } from '../../model/index.js'
import { headOf, packedNames, type Repository, refCommit } from '../checkout/repository.js'
import type { TreeAdopter } from './adopt-tree.js'
import type { SourceObjects } from './source-objects.js'
import { badSource } from './source-tree.js'

export type SourceCommit = {
  readonly id: ObjectId
  readonly tree: ObjectId
  readonly createdAtMs: number
  readonly subject: string
  /** Why its files cannot be imported; null if no reason is known. */
  readonly fault: string | null
}

export type SourceHistory = {
  /** Oldest first. */
  readonly commits: readonly SourceCommit[]
  /** The parts of the history that are not in `commits`, and why. */
  readonly problems: readonly { readonly commit: string; readonly message: string }[]
}

const MAX_COMMIT_BYTES = 1 << 20
/** The end of the year 9999, the last that an ISO date can express. */
const MAX_SECONDS = 253_402_300_799

type ParsedCommit = Omit<SourceCommit, 'id' | 'fault'> & { readonly parents: readonly ObjectId[] }

/** Stops at a commit that cannot be read: its ancestors are unknown. */
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

/** The message of a fault in the source; rethrows all other errors. */
function messageOf(error: unknown): string {
  if (error instanceof SavestateError && hasCode(error, 'BAD_INPUT')) return error.message
  throw error
}

export function parseCommit(bytes: Buffer | number): ParsedCommit {
  if (typeof bytes === 'number') throw badSource('the commit is too large')
  const end = bytes.indexOf('\n\n')
  const head = bytes.toString('utf8', 0, end === -1 ? bytes.length : end).split('\n')
  const tree = /^tree ([0-9a-f]{40})$/.exec(head[0] ?? '')?.[1]
  if (tree === undefined) throw badSource('the commit is malformed')
  const parents = head.flatMap((line) => /^parent ([0-9a-f]{40})$/.exec(line)?.[1] ?? [])
  const author = head.find((line) => line.startsWith('author '))
  const seconds = Number(/> ([0-9]{1,12}) [-+][0-9]{4}$/.exec(author ?? '')?.[1])
  // Also true for NaN.
  if (!(seconds <= MAX_SECONDS)) throw badSource('the commit has no time')
  return {
    tree: parseObjectId(tree),
    parents: parents.map(parseObjectId),
    createdAtMs: seconds * 1000,
    subject: end === -1 ? '' : subjectOf(bytes.toString('utf8', end + 2)),
  }
}

/** Like git: the lines up to the first empty one. Line by line, so that many blanks do not take quadratic time. */
function subjectOf(message: string): string {
  const subject: string[] = []
  for (const line of message.trimStart().split('\n')) {
    if (line.trim() === '') break
    subject.push(line.replaceAll('\0', '').trim())
  }
  return subject.filter((words) => words !== '').join(' ')
}

/** Null for a branch without commits. Paths have one character per byte. */
export function sourceHead(gitDir: string): string | null {
  return headOf(repositoryAt(gitDir)).commit
}

/** The refs below `prefix` (`refs/hermes/`), sorted, with their commits; null for a malformed ref. */
export function sourceRefs(
  gitDir: string,
  prefix: string,
): readonly { readonly name: string; readonly commit: string | null }[] {
  const repository = repositoryAt(gitDir)
  const folder = fsPath(`${gitDir}/${prefix}`)
  const loose = ifExists(() => readdirSync(folder, { encoding: 'latin1' })) ?? []
  const names = [...loose.map((name) => `${prefix}${name}`), ...packedNames(repository, prefix)]
  return [...new Set(names)].sort().map((name) => ({ name, commit: refCommit(repository, name) }))
}

function repositoryAt(gitDir: string): Repository {
  return { worktree: gitDir, gitDir, commonDir: gitDir }
}
