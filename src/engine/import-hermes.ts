// What Hermes left behind, all of which may be in one folder: repositories of one folder each (v1, also those moved
// to `legacy-*`), the repository shared by all (v2), and the task checkpoints of sessions (YAML).
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { posix } from 'node:path'
import {
  type BytePath,
  bytePath,
  bytePathOf,
  fsPath,
  hasCode,
  joinPath,
  parseObjectId,
  pathText,
} from '../model/index.js'
import { readRegularFile, refuseUnsafeFolder, sourceHead, sourceRefs } from '../snapshot/index.js'
import type { StoreContext } from './context.js'
import {
  exactText,
  type FilesSource,
  type Findings,
  isFolder,
  isRecord,
  isThere,
  namesIn,
  parseJson,
  readText,
  unreadable,
} from './import-source.js'
import { findTask } from './import-task.js'

const WORKDIR_FILE = 'HERMES_WORKDIR'
const REFS = 'refs/hermes/'
const MAX_WORKDIR_BYTES = 8192
const MAX_PROJECT_BYTES = 1 << 20

/** `path`: the folder that Hermes keeps its checkpoints in, or one repository of it. */
export async function findHermes(
  context: StoreContext,
  path: BytePath,
  findings: Findings,
): Promise<void> {
  if (isThere(joinPath(path, WORKDIR_FILE))) return findVersion1(context, path, findings)
  if (isThere(joinPath(path, 'projects')) && isThere(joinPath(path, 'objects')))
    return findVersion2(context, path, findings)
  for (const name of namesIn(path)) {
    const inside = joinPath(path, name)
    if (name.endsWith('.yaml')) await findTask(inside, findings)
    else if (!isFolder(inside)) {
      if (isExpected(name))
        findings.report(pathText(inside), 'it is not a folder; links are not followed')
    } else if (name === 'store') await findVersion2(context, inside, findings)
    else if (name.startsWith('legacy-')) await findArchive(context, inside, findings)
    else if (isExpected(name) || isThere(joinPath(inside, WORKDIR_FILE)))
      await findVersion1(context, inside, findings)
  }
}

function isExpected(name: string): boolean {
  return name === 'store' || name.startsWith('legacy-') || /^[0-9a-f]{16}$/.test(name)
}

async function findArchive(
  context: StoreContext,
  archive: BytePath,
  findings: Findings,
): Promise<void> {
  await findings.attempt(pathText(archive), async () => {
    for (const name of namesIn(archive)) {
      const inside = joinPath(archive, name)
      if (isFolder(inside) && (isExpected(name) || isThere(joinPath(inside, WORKDIR_FILE))))
        await findVersion1(context, inside, findings)
    }
  })
}

async function findVersion1(
  context: StoreContext,
  gitDir: BytePath,
  findings: Findings,
): Promise<void> {
  const source = pathText(gitDir)
  await findings.attempt(source, async () => {
    const bytes = readRegularFile(joinPath(gitDir, WORKDIR_FILE), MAX_WORKDIR_BYTES)
    if (typeof bytes === 'string')
      throw unreadable(`it has no file ${WORKDIR_FILE}, so its folder is not known`)
    const workdir = bytePathOf(bytes).replace(/[\r\n]+$/, '') as BytePath
    const tip = sourceHead(gitDir)
    if (tip === null) throw unreadable('its HEAD points to no commit')
    await addHistory(context, { kind: 'hermes-v1', source, gitDir, workdir, tip }, findings)
  })
}

async function findVersion2(
  context: StoreContext,
  gitDir: BytePath,
  findings: Findings,
): Promise<void> {
  await findings.attempt(pathText(gitDir), async () => {
    for (const { name, commit } of sourceRefs(gitDir, REFS)) {
      const source = `${pathText(gitDir)} ${name}`
      await findings.attempt(source, async () => {
        const hash = name.slice(REFS.length)
        if (!/^[0-9a-f]{16}$/.test(hash)) throw unreadable('the ref is not named after a project')
        const workdir = workdirOf(joinPath(gitDir, `projects/${hash}.json`))
        if (commit === null) throw unreadable('the ref points to no commit')
        const history = { kind: 'hermes-v2', source, gitDir, workdir, tip: commit } as const
        await addHistory(context, history, findings)
      })
    }
  })
}

function workdirOf(path: BytePath): BytePath {
  if (!isThere(path)) throw unreadable(`${pathText(path)} is missing, so its folder is not known`)
  const project = parseJson(readText(path, MAX_PROJECT_BYTES).text)
  const workdir = isRecord(project) ? project['workdir'] : undefined
  if (typeof workdir !== 'string') throw unreadable(`${pathText(path)} names no folder`)
  return bytePath(workdir)
}

async function addHistory(
  { snapshots, home }: StoreContext,
  found: Pick<FilesSource, 'kind' | 'source'> & {
    readonly gitDir: BytePath
    readonly workdir: BytePath
    readonly tip: string
  },
  findings: Findings,
): Promise<void> {
  const { kind, source, gitDir, workdir } = found
  const path = realPathOf(workdir)
  refuseUnsafeFolder(path, bytePath(home))
  const objects = exactText(joinPath(gitDir, 'objects'))
  const history = await snapshots.readHistory(path, { objects, tip: parseObjectId(found.tip) })
  for (const { commit, message } of history.problems)
    findings.report(`${source} ${commit}`, message)
  const project = createHash('sha256').update(Buffer.from(workdir, 'latin1')).digest('hex')
  const prefix = `${kind === 'hermes-v1' ? 'hermes1' : 'hermes2'}:${project.slice(0, 16)}`
  const commits = history.commits.map((commit) => ({ ...commit, origin: `${prefix}:${commit.id}` }))
  for (const { id, fault } of commits) {
    if (fault !== null) findings.report(`${source} ${id}`, fault)
  }
  findings.sources.push({ type: 'files', kind, source, path, objects, commits })
}

/** Of a folder that may be gone: as far as it is there, where its links lead. */
function realPathOf(workdir: BytePath): BytePath {
  if (!workdir.startsWith('/') || workdir.includes('\0'))
    throw unreadable(`its folder, ${pathText(workdir)}, is not an absolute path`)
  const path = posix.normalize(workdir).replace(/(?<=[^/])\/+$/, '')
  for (let parent = path; ; parent = posix.dirname(parent)) {
    try {
      const real = bytePathOf(realpathSync.native(fsPath(parent), 'buffer'))
      return posix.join(real, path.slice(parent.length)) as BytePath
    } catch (error) {
      if (parent === '/' || !hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP')) throw error
    }
  }
}
