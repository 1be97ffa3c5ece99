// Finds what Hermes stored. One folder may contain all of it: repositories of one folder each (v1, also those moved to
// `legacy-*`), the repository shared by all projects (v2), and the task files of sessions (YAML).
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { basename, posix } from 'node:path'
import { isRecord } from '../base/index.js'
import {
  type BytePath,
  bytePath,
  bytePathFromBytes,
  type CommitHistory,
  fsPath,
  hasCode,
  IN_PROGRESS,
  joinPath,
  nameOf,
  parseSessionId,
  parseStatus,
  pathText,
  readRegularFile,
  sourceHead,
  sourceRefs,
  type Status,
  STATUS_WORDS,
} from '../internal.js'
import { parseYaml } from '../yaml/index.js'
import {
  exists,
  type Found,
  gitPath,
  isFolder,
  namesIn,
  parseJson,
  readLater,
  readText,
  unreadable,
} from './source.js'

const WORKDIR_FILE = 'HERMES_WORKDIR'
const REFS = 'refs/hermes/'
const MAX_WORKDIR_BYTES = 8192
const MAX_PROJECT_BYTES = 1 << 20
const MAX_TASK_BYTES = 16 << 20

/** `path`: the folder of Hermes' checkpoints, or one repository in it. */
export async function findHermes(path: BytePath, found: Found): Promise<void> {
  if (exists(joinPath(path, WORKDIR_FILE))) return findVersion1(path, found)
  if (exists(joinPath(path, 'projects')) && exists(joinPath(path, 'objects')))
    return findVersion2(path, found)
  for (const name of namesIn(path)) {
    const inside = joinPath(path, name)
    await found.attempt(pathText(inside), async () => {
      if (name.endsWith('.yaml')) findTask(inside, found)
      else if (!isFolder(inside)) {
        if (isExpected(name)) throw unreadable('it is not a folder; links are not followed')
      } else if (name === 'store') await findVersion2(inside, found)
      else if (name.startsWith('legacy-'))
        for (const each of namesIn(inside)) await findIfVersion1(inside, each, found)
      else await findIfVersion1(path, name, found)
    })
  }
}

function isExpected(name: string): boolean {
  return name === 'store' || name.startsWith('legacy-') || /^[0-9a-f]{16}$/.test(name)
}

async function findIfVersion1(folder: BytePath, name: BytePath, found: Found): Promise<void> {
  const gitDir = joinPath(folder, name)
  const isOne = isExpected(name) || exists(joinPath(gitDir, WORKDIR_FILE))
  if (isOne && isFolder(gitDir)) await findVersion1(gitDir, found)
}

async function findVersion1(gitDir: BytePath, found: Found): Promise<void> {
  const source = pathText(gitDir)
  await found.attempt(source, () => {
    const bytes = readRegularFile(joinPath(gitDir, WORKDIR_FILE), MAX_WORKDIR_BYTES)
    if (typeof bytes === 'string')
      throw unreadable(`it has no file ${WORKDIR_FILE}, so its folder is not known`)
    const workdir = bytePathFromBytes(bytes).replace(/[\r\n]+$/, '') as BytePath
    const tip = sourceHead(gitDir)
    if (tip === null) throw unreadable('its HEAD points to no commit')
    found.histories.push(historyOf({ kind: 'hermes-v1', source, gitDir, workdir, tip }))
  })
}

async function findVersion2(gitDir: BytePath, found: Found): Promise<void> {
  for (const { name, commit } of sourceRefs(gitDir, REFS)) {
    const source = `${pathText(gitDir)} ${name}`
    await found.attempt(source, () => {
      const hash = name.slice(REFS.length)
      if (!/^[0-9a-f]{16}$/.test(hash)) throw unreadable('the ref is not named after a project')
      const workdir = workdirOf(joinPath(gitDir, `projects/${hash}.json`))
      if (commit === null) throw unreadable('the ref points to no commit')
      found.histories.push(historyOf({ kind: 'hermes-v2', source, gitDir, workdir, tip: commit }))
    })
  }
}

function workdirOf(path: BytePath): BytePath {
  if (!exists(path)) throw unreadable(`${pathText(path)} is missing, so its folder is not known`)
  const project = parseJson(readText(path, MAX_PROJECT_BYTES).text)
  const workdir = isRecord(project) ? project['workdir'] : undefined
  if (typeof workdir !== 'string') throw unreadable(`${pathText(path)} names no folder`)
  return bytePath(workdir)
}

function historyOf(repository: {
  readonly kind: 'hermes-v1' | 'hermes-v2'
  readonly source: string
  readonly gitDir: BytePath
  readonly workdir: BytePath
  readonly tip: string
}): CommitHistory {
  const { kind, source, gitDir, workdir, tip } = repository
  const project = createHash('sha256').update(Buffer.from(workdir, 'latin1')).digest('hex')
  return {
    type: 'commits',
    kind,
    source,
    path: realPathOf(workdir),
    objects: gitPath(joinPath(gitDir, 'objects')),
    tip,
    originPrefix: `${kind === 'hermes-v1' ? 'hermes1' : 'hermes2'}:${project.slice(0, 16)}`,
  }
}

/** Resolves the symlinks in the part of the path that exists: the folder itself may be gone. */
function realPathOf(workdir: BytePath): BytePath {
  if (!workdir.startsWith('/') || workdir.includes('\0'))
    throw unreadable(`its folder, ${pathText(workdir)}, is not an absolute path`)
  const path = posix.normalize(workdir).replace(/(?<=[^/])\/+$/, '')
  for (let parent = path; ; parent = posix.dirname(parent)) {
    try {
      const real = bytePathFromBytes(realpathSync.native(fsPath(parent), 'buffer'))
      return posix.join(real, path.slice(parent.length)) as BytePath
    } catch (error) {
      if (parent === '/' || !hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) throw error
    }
  }
}

/** A task file: Hermes overwrites it, so it holds the latest state of its session only. */
function findTask(path: BytePath, found: Found): void {
  const source = pathText(path)
  const file = readText(path, MAX_TASK_BYTES)
  const task = parseTask(file.text)
  const name = Buffer.from(nameOf(path), 'latin1').toString('utf8')
  const id = sessionIdOf(task, name.replace(/\.yaml$/, ''))
  const { status, word } = statusOf(task)
  const originPrefix = `hermes-task:${id}:`
  const item = {
    source,
    origin: `${originPrefix}${file.hash}`,
    createdAtMs: timeOf(task['updated']) ?? file.modifiedAtMs,
    status,
    metadata: word === undefined ? undefined : { status: word },
    readState: readLater(path, file, parseTask),
  }
  found.addStates({ kind: 'hermes-task', source, id, originPrefix, items: [item] })
}

function parseTask(text: string): Readonly<Record<string, unknown>> {
  const task = parseYaml({ text, source: 'it' })
  if (isRecord(task) && Object.getPrototypeOf(task) === Object.prototype) return task
  throw unreadable('it does not contain a mapping')
}

/** The file's name, or the id inside if Hermes made that name from it (`../x` becomes `x.yaml`). */
function sessionIdOf(task: Readonly<Record<string, unknown>>, stem: string): string {
  const inside = task['session_id']
  return parseSessionId(typeof inside === 'string' && basename(inside) === stem ? inside : stem)
}

/** `word`: a status that we do not have, for the metadata. */
function statusOf(task: Readonly<Record<string, unknown>>): {
  readonly status: Status
  readonly word?: unknown
} {
  const { status: word, reason } = task
  if (word === undefined || word === null) return { status: IN_PROGRESS }
  const known = STATUS_WORDS.find((each) => each === word)
  if (known === undefined) return { status: IN_PROGRESS, word }
  return { status: parseStatus(known, typeof reason === 'string' ? reason : null) }
}

/** A time without a zone is local: Hermes writes it that way. */
function timeOf(updated: unknown): number | undefined {
  const time = new Date(typeof updated === 'string' || updated instanceof Date ? updated : NaN)
  return Number.isNaN(time.getTime()) ? undefined : time.getTime()
}
