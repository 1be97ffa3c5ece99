// Asks git who wrote the lines of a file in a commit of the user's repository. git gets the objects of that repository and nothing
// else of it: it runs nothing that is configured there, and it writes nothing.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type BytePath, hasCode, isError } from '../../model/index.js'
import { enclosingRepository } from '../checkout/repository.js'
import { tryGit } from '../git/git-program.js'
import { countOf, type Matched, matchLines, splitLines } from './match-lines.js'

export type CommittedRequest = {
  /** An absolute folder in the worktree, and the path of the file below it. */
  readonly folder: BytePath
  readonly path: BytePath
  readonly commit: string
  readonly content: Uint8Array
  /** The numbers of the lines to look up in the content. */
  readonly lines: readonly number[]
}

export type CommittedLine = {
  readonly commit: string
  readonly author: string | null
  readonly atMs: number | null
}

/** More ranges than this would make the command line too long; git then blames the whole file. */
const MAX_RANGES = 200

/** By the number of the line in the content. Lines that the commit does not have are left out, as is everything that git cannot read. */
export async function findCommittedLines(
  gitDir: string,
  { folder, path, commit, content, lines }: CommittedRequest,
): Promise<ReadonlyMap<number, CommittedLine>> {
  const location = locate(folder, path)
  if (location === undefined) return new Map()
  const { objects, shallow, name } = location
  const git = async (...args: readonly string[]) => {
    const more = shallow === undefined ? [] : ['--shallow-file', shallow]
    const { status, output } = await tryGit(gitDir, [...more, ...args], { objects })
    return status === 0 ? output : undefined
  }
  const committed = await git('cat-file', 'blob', `${commit}:${name}`)
  if (committed === undefined) return new Map()
  const here = splitLines(Buffer.from(content))
  const lineOf = committedNumbers(countOf(here), matchLines(here, committed))
  const wanted = new Map(
    lines.flatMap((line) => {
      const number = lineOf[line]
      return number === undefined ? [] : [[number, line] as const]
    }),
  )
  if (wanted.size === 0) return new Map()
  const ranges = rangesOf([...wanted.keys()])
  const limits = ranges.length > MAX_RANGES ? [] : ranges.map((range) => `-L${range}`)
  const blame = await git('blame', '--incremental', ...limits, commit, '--', name)
  if (blame === undefined) return new Map()
  const found = parseIncremental(blame.toString('utf8'))
  return new Map(
    [...wanted].flatMap(([number, line]) => {
      const one = found.get(number + 1)
      return one === undefined ? [] : [[line, one] as const]
    }),
  )
}

/** The commits of the repository as git takes them; undefined for a path that is not UTF-8. */
function locate(folder: BytePath, path: BytePath) {
  const found = repositoryOf(folder)
  if (found === undefined) return undefined
  const { repository, prefix } = found
  const texts = [repository.commonDir, prefix === '' ? path : `${prefix}/${path}`].map(exactText)
  const [commonDir, name] = texts
  if (commonDir === undefined || name === undefined) return undefined
  const shallow = join(commonDir, 'shallow')
  return {
    objects: join(commonDir, 'objects'),
    shallow: existsSync(shallow) ? shallow : undefined,
    name,
  }
}

function repositoryOf(folder: BytePath): ReturnType<typeof enclosingRepository> {
  try {
    return enclosingRepository(folder)
  } catch (error) {
    if (isError(error) && hasCode(error, 'EACCES', 'EPERM', 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

function exactText(bytes: string): string | undefined {
  const text = Buffer.from(bytes, 'latin1').toString('utf8')
  return Buffer.from(text, 'utf8').toString('latin1') === bytes ? text : undefined
}

/** The number in the commit of each line of the content; undefined if the commit does not have it. */
function committedNumbers(count: number, { runs }: Matched): readonly (number | undefined)[] {
  const numbers = Array.from({ length: count }, (): number | undefined => undefined)
  for (const { newer, older, count: length } of runs)
    for (let n = 0; n < length; n += 1) numbers[newer + n] = older + n
  return numbers
}

/** Consecutive numbers, counted from 0, as ranges that git counts from 1. */
function rangesOf(numbers: readonly number[]): readonly string[] {
  const ranges: [number, number][] = []
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([from, to]) => `${from + 1},${to + 1}`)
}

/** By the number of the line. git describes a commit once, with the first of its lines. */
function parseIncremental(text: string): ReadonlyMap<number, CommittedLine> {
  const commits = new Map<string, { author: string | null; atMs: number | null }>()
  const found = new Map<number, CommittedLine>()
  const groups: { readonly commit: string; readonly first: number; readonly count: number }[] = []
  let commit = ''
  for (const line of text.split('\n')) {
    const head = /^([0-9a-f]{40}) \d+ (\d+) (\d+)$/.exec(line)
    if (head !== null) {
      commit = head[1] ?? ''
      groups.push({ commit, first: Number(head[2]), count: Number(head[3]) })
      if (!commits.has(commit)) commits.set(commit, { author: null, atMs: null })
      continue
    }
    const known = commits.get(commit)
    const [, key, value = ''] = /^(author|author-time) ([^]*)$/.exec(line) ?? []
    if (known === undefined || key === undefined) continue
    if (key === 'author') known.author = value
    else known.atMs = Number(value) * 1000
  }
  for (const { commit, first, count } of groups)
    for (let n = first; n < first + count; n += 1)
      found.set(n, { commit, ...(commits.get(commit) ?? { author: null, atMs: null }) })
  return found
}
