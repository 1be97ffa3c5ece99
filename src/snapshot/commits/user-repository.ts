// The user's repository around a project, read only (I4). Git gets its objects folder and nothing else of it (git-program.ts), apart
// from `git config`, which reads the settings that apply there.
import { Readable } from 'node:stream'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type BytePath, joinPath, type ObjectId, parseObjectId, ROOT } from '../../model/index.js'
import { readObjectFormat } from '../checkout/index-format.js'
import { readRegularFile } from '../checkout/regular-file.js'
import { enclosingRepository, headOf } from '../checkout/repository.js'
import { readUserSettings, runGit, tryGit } from '../git/git-program.js'

export type UserRepository = {
  /** The path of the project in the worktree. */
  readonly prefix: BytePath
  /** The folder of its objects, as an argument for programs. */
  readonly objects: string
  /** By name in lower case: `user.name`. */
  readonly settings: ReadonlyMap<string, string>
  /** The texts of the files that apply besides those in the worktree. */
  readonly exclude: Buffer
  readonly attributes: Buffer
  readonly head: ObjectId | null
  /** The commits whose parents a shallow clone lacks. */
  readonly shallow: Buffer
}

const SETTINGS =
  '^(user|author)\\.(name|email)$|^core\\.(autocrlf|eol|excludesfile|attributesfile|sparsecheckout|ignorecase)$'
const MAX_RULE_BYTES = 16 << 20

/** Undefined if no repository with SHA-1 ids encloses the folder, or its path cannot be passed to a program. */
export async function openUserRepository(folder: BytePath): Promise<UserRepository | undefined> {
  const found = enclosingRepository(folder)
  if (found === undefined) return undefined
  const { repository, prefix } = found
  const gitDir = argumentOf(repository.gitDir)
  const objects = argumentOf(`${repository.commonDir}/objects`)
  if (gitDir === undefined || objects === undefined || readObjectFormat(repository) !== 'sha1')
    return undefined
  const settings = parseSettings(await readUserSettings(gitDir, SETTINGS))
  const own = (name: string) => readRules(`${repository.commonDir}/info/${name}`)
  return {
    prefix,
    objects,
    settings,
    exclude: joinRules(globalRules(settings, 'excludesfile', 'ignore'), own('exclude')),
    attributes: joinRules(globalRules(settings, 'attributesfile', 'attributes'), own('attributes')),
    head: headOf(repository).commit as ObjectId | null,
    shallow: readRules(`${repository.commonDir}/shallow`),
  }
}

/** An entry of a commit in the user's repository, with its path there. */
export type UserEntry = { readonly mode: string; readonly id: ObjectId; readonly path: BytePath }

/** All entries of a commit, folders included; undefined if the repository does not have it. */
export async function listCommit(
  gitDir: string,
  { objects, commit }: { readonly objects: string; readonly commit: ObjectId },
): Promise<readonly UserEntry[] | undefined> {
  const args = ['ls-tree', '-r', '-t', '-z', '--full-tree', commit]
  const { status, output } = await tryGit(gitDir, args, { objects })
  return status === 0 ? parseEntries(output) : undefined
}

export async function readTreeId(
  gitDir: string,
  { objects, commit }: { readonly objects: string; readonly commit: ObjectId },
): Promise<ObjectId> {
  const output = await runGit(gitDir, ['rev-parse', `${commit}^{tree}`], { objects })
  return parseObjectId(output.toString('latin1').trim())
}

export function parseEntries(output: Buffer): readonly UserEntry[] {
  return output
    .toString('latin1')
    .split('\0')
    .slice(0, -1)
    .map((line) => {
      const tab = line.indexOf('\t')
      const [mode = '', , id = ''] = line.slice(0, tab).split(' ')
      return { mode, id: id as ObjectId, path: line.slice(tab + 1) as BytePath }
    })
}

/** A commit of the user with one parent at most, and the files that it changed. */
export type UserCommit = {
  readonly id: ObjectId
  readonly parent: ObjectId | undefined
  readonly authoredMs: number
  readonly committedMs: number
  /** Undefined: removed. Paths as in the worktree. */
  readonly changes: ReadonlyMap<BytePath, ObjectId | undefined>
}

/** The history of `tip` since a time, newest first, without merges. */
export async function readUserCommits(
  gitDir: string,
  { objects, tip, sinceMs }: { objects: string; tip: ObjectId; sinceMs: number },
): Promise<readonly UserCommit[]> {
  const since = `--max-age=${Math.floor(sinceMs / 1000)}`
  const list = ['log', '--no-merges', '-z', '--format=%H %P %at %ct', since, tip, '--']
  const { status, output } = await tryGit(gitDir, list, { objects })
  if (status !== 0) return []
  const lines = output
    .toString('latin1')
    .split('\0')
    .filter((line) => line !== '')
  const changes = await readChanges(gitDir, { objects, commits: lines.map(idOf) })
  return lines.map((line) => {
    const words = line.split(' ').filter((word) => word !== '')
    const [authored, committed] = words.slice(-2).map(Number)
    return {
      id: idOf(line),
      parent: words.length === 4 ? (words[1] as ObjectId) : undefined,
      authoredMs: (authored ?? 0) * 1000,
      committedMs: (committed ?? 0) * 1000,
      changes: changes.get(idOf(line)) ?? new Map(),
    }
  })
}

async function readChanges(
  gitDir: string,
  { objects, commits }: { readonly objects: string; readonly commits: readonly ObjectId[] },
): Promise<ReadonlyMap<ObjectId, Map<BytePath, ObjectId | undefined>>> {
  const args = [
    'diff-tree',
    '--stdin',
    '--root',
    '-r',
    '-z',
    '--raw',
    '--no-renames',
    '--no-abbrev',
  ]
  const input = Readable.from([commits.map((id) => `${id}\n`).join('')])
  const output = await runGit(gitDir, args, { objects, input })
  const found = new Map<ObjectId, Map<BytePath, ObjectId | undefined>>()
  let changes = new Map<BytePath, ObjectId | undefined>()
  const tokens = output.toString('latin1').split('\0')
  for (let i = 0; i < tokens.length; i += 1) {
    const token = tokens[i] ?? ''
    if (!token.startsWith(':')) {
      changes = new Map()
      if (token !== '') found.set(token as ObjectId, changes)
      continue
    }
    const [, , , id = '', letter = ''] = token.split(' ')
    changes.set((tokens[++i] ?? '') as BytePath, letter === 'D' ? undefined : (id as ObjectId))
  }
  return found
}

function idOf(line: string): ObjectId {
  return line.slice(0, 40) as ObjectId
}

/** Programs get arguments as UTF-8; a path that is not cannot be passed. */
function argumentOf(path: string): string | undefined {
  const bytes = Buffer.from(path, 'latin1')
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined
}

function parseSettings(output: Buffer): ReadonlyMap<string, string> {
  const records = output.toString('utf8').split('\0').slice(0, -1)
  return new Map(
    records.map((record) => {
      const end = record.indexOf('\n')
      // A key without a value is true.
      return end === -1 ? [record, 'true'] : [record.slice(0, end), record.slice(end + 1)]
    }),
  )
}

/** The user's file for all repositories. */
function globalRules(settings: ReadonlyMap<string, string>, setting: string, name: string): Buffer {
  const config = process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config')
  const path = settings.get(`core.${setting}`) ?? join(config, 'git', name)
  const whole = path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
  return whole.startsWith('/') ? readRules(Buffer.from(whole, 'utf8').toString('latin1')) : NONE
}

const NONE = Buffer.alloc(0)

function readRules(path: string): Buffer {
  const bytes = readRegularFile(path, MAX_RULE_BYTES)
  return typeof bytes === 'string' ? NONE : bytes
}

function joinRules(...texts: readonly Buffer[]): Buffer {
  return Buffer.concat(texts.flatMap((text) => [text, Buffer.from('\n')]))
}

/** A path of the project as a path of the worktree. */
export function inWorktree(prefix: BytePath, path: BytePath): BytePath {
  return prefix === ROOT ? path : joinPath(prefix, path)
}
