// Checks the store's folder: its format file, permissions, locks, and leftover files.
import { chmodSync, lstatSync, rmSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { type ObjectReport, watchOwners } from '../../snapshot/index.js'
import { isSurelyDead, writeFileAtomically } from '../../system/index.js'
import {
  type RepairContext,
  type Finding,
  finding,
  type Fix,
  quarantine,
  some,
} from './findings.js'
import { FORMAT, formatFault } from '../store/store-home.js'
import { entriesOf } from './verify-file-types.js'

/** Another process may still be writing a temporary file that is younger. */
const FRESH_MS = 10 * 60_000
const OTHERS = 0o077
/** Temporary files of our atomic writes and of git; files of packs that are gone. */
const TEMPORARY = /\.\d+-\d+\.tmp$/
const GIT_TEMPORARY = /^\.?tmp[-_]|\.lock$/
const PACK_PART = /^(.*\/pack-[0-9a-f]{40})\.(?:rev|bitmap|mtimes)$/
const OF_PROJECT =
  /^(?:cache|locks)\/([bcdfghjklmnpqrstvwxz]{18})(?:\.search(?:-journal)?)?(?:\.(?:ref|owner|json))?$/

/** Paths relative to `home`, folders before their contents. Links are not followed. */
export function listHome(home: string, folder = ''): string[] {
  return entriesOf(join(home, folder)).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? [path, ...listHome(home, path)] : [path]
  })
}

export function checkFormat({ home }: RepairContext): Finding[] {
  const message = formatFault(home)
  if (message === undefined) return []
  const path = join(home, 'format')
  const fix: Fix = {
    stage: 'home',
    action: 'rewrite the format file',
    run({ away }) {
      away.move(path, 'the format file as it was')
      writeFileAtomically({ path, content: FORMAT, durable: true })
    },
  }
  return [finding('format', message, { path: 'format', fix })]
}

export function checkPermissions({ home }: RepairContext, paths: readonly string[]): Finding[] {
  if (process.platform === 'win32') return []
  const open = ['', ...paths].filter(
    (path) =>
      (modeOf(join(home, path)) & OTHERS) !== 0 &&
      // An editor gives it the default mode, and it contains none of the user's work.
      path !== 'config.json' &&
      !isUnfinishedByGit(path),
  )
  if (open.length === 0) return []
  const message = open.includes('')
    ? 'other users can enter the store'
    : `other users could read ${some(open.slice(0, 3))}`
  const fix: Fix = {
    stage: 'home',
    action: `remove the access of other users to ${open.length === 1 ? 'a file or folder' : `${open.length} files and folders`}`,
    run() {
      for (const path of open.map((name) => join(home, name))) {
        const mode = modeOf(path)
        if (mode !== 0) chmodSync(path, mode & 0o700)
      }
    },
  }
  return [finding('permissions', message, { fix })]
}

/** Git sets the mode of a file when it is complete. A killed git may leave one that is not; a prune removes it. */
function isUnfinishedByGit(path: string): boolean {
  const isInGit = path.startsWith('objects.git/')
  return isInGit && /^tmp_|\.lock$|^packed-refs\.new$/.test(basename(path))
}

/** A lock is an empty file. With any content no process could take it. */
export function checkLocks({ home }: RepairContext): Finding[] {
  return entriesOf(join(home, 'locks'))
    .map(({ name }) => `locks/${name}`)
    .filter((path) => !/\.(?:owner|tmp)$|-(?:journal|wal|shm)$/.test(path))
    .filter((path) => !isLock(join(home, path)))
    .map((path) => {
      const fix = quarantine(path, { stage: 'home', why: 'no lock file' })
      return finding('lock', 'is not a lock file, so the lock cannot be taken', { path, fix })
    })
}

function isLock(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  // A concurrent prune may have removed the lock of a project.
  return stats === undefined || (stats.size === 0 && !stats.isDirectory())
}

/** Harmless files of killed processes and of removed projects. */
export function checkLeftovers(
  { home, clock }: RepairContext,
  {
    paths,
    known,
    caches,
  }: Pick<ObjectReport, 'caches'> & {
    readonly paths: readonly string[]
    readonly known: ReadonlySet<string>
  },
): Finding[] {
  const all = new Set(paths)
  const isLeft = (path: string) => {
    if (path.startsWith('damaged/')) return false
    const project = OF_PROJECT.exec(path)?.[1]
    const pack = PACK_PART.exec(path)?.[1]
    return (
      TEMPORARY.test(path) ||
      /^tmp\/[^/]+$/.test(path) ||
      (path.startsWith('objects.git/') && GIT_TEMPORARY.test(basename(path))) ||
      (project !== undefined && !known.has(project)) ||
      (pack !== undefined && !all.has(`${pack}.pack`))
    )
  }
  const isOld = (path: string) => {
    const changedMs = lstatSync(join(home, path), { throwIfNoEntry: false })?.mtimeMs
    return changedMs !== undefined && clock.nowMs() - changedMs > FRESH_MS
  }
  const watches = watchOwners(home)
    .filter(({ process: owner }) => isSurelyDead(owner))
    .map(({ path }) => path)
  const leave = (kind: 'leftover' | 'cache', path: string, message: string) =>
    finding(kind, message, { path, severity: 'note', fix: remove(home, path) })
  return [
    ...[...paths.filter(isLeft), ...watches]
      .filter(isOld)
      .map((path) => leave('leftover', path, 'left by a process that has ended')),
    ...caches.map((path) =>
      leave('cache', relative(home, path), 'damaged; a cache is rebuilt when it is needed'),
    ),
  ]
}

function remove(home: string, path: string): Fix {
  return {
    stage: 'leftovers',
    action: `remove ${path}`,
    run: () => rmSync(join(home, path), { recursive: true, force: true }),
  }
}

/** 0 for a path that is gone, and for links, which have no mode of their own. */
function modeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats === undefined || stats.isSymbolicLink() ? 0 : stats.mode & 0o777
}
