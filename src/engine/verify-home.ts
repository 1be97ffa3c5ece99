// The store's folder: its mark, who may read it, and what lies about in it.
import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { hasCode } from '../model/index.js'
import { type ObjectReport, watchOwners } from '../snapshot/index.js'
import { isSurelyDead, writeFileAtomically } from '../system/index.js'
import { type CareContext, type Finding, type Fix, some } from './findings.js'
import { FORMAT, formatFault } from './store-home.js'

/** Of what another process may be writing at this moment. */
const FRESH_MS = 10 * 60_000
const OTHERS = 0o077
const ID = /^[bcdfghjklmnpqrstvwxz]{18}$/
/** Locks that belong to no project. */
const STORE_LOCKS = ['objects', 'collect']

export function checkFormat({ home }: CareContext): Finding[] {
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
  const found = { kind: 'format', checkpoint: null, severity: 'damage', repairable: true } as const
  return [{ ...found, message, path: 'format', fix }]
}

export function checkPermissions({ home }: CareContext): Finding[] {
  if (process.platform === 'win32') return []
  const open = [home, ...everythingIn(home)].filter(
    (path) => (modeOf(path) & OTHERS) !== 0 && !isSettings(home, path) && !isBegunByGit(home, path),
  )
  if (open.length === 0) return []
  const names = open.slice(0, 3).map((path) => relative(home, path))
  const message = open.includes(home)
    ? 'other users can enter the store'
    : `other users could read ${some(names)}`
  const fix: Fix = {
    stage: 'home',
    action: `remove the access of other users to ${open.length === 1 ? 'a file or folder' : `${open.length} files and folders`}`,
    run() {
      for (const path of open) {
        const mode = modeOf(path)
        if (mode !== 0) chmodSync(path, mode & 0o700)
      }
    },
  }
  const found = { checkpoint: null, severity: 'damage', repairable: true } as const
  return [{ ...found, kind: 'permissions', message, fix }]
}

/** Made in an editor, it has the mode of any new file. It holds nothing of the user's work. */
function isSettings(home: string, path: string): boolean {
  return path === join(home, 'config.json')
}

/** Git closes what it writes to others when it is whole. A git that was killed may leave it before, and a prune takes it away. */
function isBegunByGit(home: string, path: string): boolean {
  const isGits = path.startsWith(`${join(home, 'objects.git')}${sep}`)
  return isGits && /^tmp_|\.lock$|^packed-refs\.new$/.test(basename(path))
}

/** What killed processes left, and what belongs to projects that are gone. Harmless, and removed by a repair. */
export function checkLeftovers(
  { home, clock }: CareContext,
  known: ReadonlySet<string>,
  report: ObjectReport,
): Finding[] {
  const isOld = (path: string) => {
    const changedMs = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs
    return changedMs !== undefined && clock.nowMs() - changedMs > FRESH_MS
  }
  const inFolder = (folder: string) =>
    listIfThere(join(home, folder)).map((name) => join(folder, name))
  const atomic = ['.', 'cache', 'daemon', 'journal', 'locks', 'objects.git', 'objects.git/info']
    .flatMap(inFolder)
    .filter((name) => /\.\d+-\d+\.tmp$/.test(name))
  const gitLocks = everythingIn(join(home, 'objects.git'))
    .filter((path) => path.endsWith('.lock'))
    .map((path) => relative(home, path))
  const aged = [...atomic, ...gitLocks, ...report.leftovers.map((path) => relative(home, path))]
  const projectOf = (name: string) =>
    name.replace(/^[^/]*\//, '').replace(/\.(?:ref|owner|json)$/, '')
  const foreign = [...inFolder('cache'), ...inFolder('locks')].filter((name) => {
    const project = projectOf(name)
    return ID.test(project) && !known.has(project) && !STORE_LOCKS.includes(project)
  })
  const watches = watchOwners(home)
    .filter(({ process: owner }) => isSurelyDead(owner))
    .map(({ path }) => path)
  const found: Finding[] = [...aged, ...foreign, ...watches, ...inFolder('tmp')]
    .filter((name) => isOld(join(home, name)))
    .map((name) => leftover(name, { message: 'left by a process that has ended', home }))
  const damaged = report.caches.map(
    (path): Finding => ({
      ...leftover(relative(home, path), {
        message: 'damaged; a cache is rebuilt when it is needed',
        home,
      }),
      kind: 'cache',
    }),
  )
  return [...found, ...damaged]
}

function leftover(
  path: string,
  { message, home }: { readonly message: string; readonly home: string },
): Finding {
  const fix: Fix = {
    stage: 'leftovers',
    action: `remove ${path}`,
    run: () => rmSync(join(home, path), { recursive: true, force: true }),
  }
  return {
    kind: 'leftover',
    message,
    checkpoint: null,
    path,
    severity: 'note',
    repairable: true,
    fix,
  }
}

/** Everything below a folder, folders before what is in them. Links are not followed. */
function everythingIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? [path, ...everythingIn(path)] : [path]
    })
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

/** Also none if a file stands in its place, which is what a verify may come to look at. */
function listIfThere(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

/** 0 for what is gone, and for links, which have no mode of their own. */
function modeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats === undefined || stats.isSymbolicLink() ? 0 : stats.mode & 0o777
}
