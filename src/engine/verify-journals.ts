// Unfinished rewinds, and the locks of the projects.
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Ledger } from '../ledger/index.js'
import { parseProjectId, pathText, type Project, SavestateError } from '../model/index.js'
import { listIfThere, takeLock } from '../system/index.js'
import type { CareContext, Finding, Fix } from './findings.js'
import { Journals } from './journal.js'

/** With `ledger` undefined only whether they can be read. */
export async function checkJournals(
  { home, isAlone }: CareContext,
  ledger: Ledger | undefined,
): Promise<Finding[]> {
  const journals = new Journals(home)
  const findings: Finding[] = []
  for (const name of journals.pending()) {
    const path = `journal/${name}.json`
    const fault = journalFault(journals, name, ledger)
    const found = { checkpoint: null, path, severity: 'damage' } as const
    if (fault !== undefined) {
      const fix = settingAside(join(home, path), `a journal that cannot be used: ${fault}`)
      findings.push({ ...found, kind: 'journal', message: fault, repairable: true, fix })
    } else if (ledger !== undefined && (isAlone || (await isFree(home, name)))) {
      const project = ledger.project(parseProjectId(name))
      const message = `a rewind of ${project === undefined ? name : pathText(project.path)} is unfinished`
      findings.push({ ...found, kind: 'interrupted', message, repairable: false })
    }
  }
  return findings
}

function journalFault(
  journals: Journals,
  name: string,
  ledger: Ledger | undefined,
): string | undefined {
  let project: Project | undefined
  try {
    const id = parseProjectId(name)
    project = ledger?.project(id)
    const journal = journals.read({ id, path: project?.path ?? ('' as Project['path']) })
    if (ledger === undefined || journal === undefined) return undefined
    if (project === undefined) return 'its project is unknown'
    const isThere = ledger.checkpoints.get(journal.safety) !== undefined
    return isThere ? undefined : 'its safety checkpoint is missing'
  } catch (error) {
    const isUnusable = error instanceof SavestateError && error.code !== 'STORE_NEWER'
    if (isUnusable) return error.message
    throw error
  }
}

/** A rewind that is still going on is none of our business. */
async function isFree(home: string, name: string): Promise<boolean> {
  const folder = join(home, 'locks')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, name)
  const lock = await takeLock(path, { waitMs: 0, purpose: 'verify' })
  lock?.release()
  return lock !== undefined
}

/** A lock is an empty database. Anything else in its place keeps everybody from working on the project. */
export function checkLocks({ home }: CareContext): Finding[] {
  const folder = join(home, 'locks')
  return listIfThere(folder)
    .filter((name) => !/\.(?:owner|tmp)$|-(?:journal|wal|shm)$/.test(name))
    .filter((name) => !isLock(join(folder, name)))
    .map((name): Finding => {
      const path = join(folder, name)
      const fix: Fix = {
        ...settingAside(path, 'no lock file'),
        stage: 'home',
      }
      const found = {
        kind: 'lock',
        checkpoint: null,
        severity: 'damage',
        repairable: true,
      } as const
      return {
        ...found,
        message: 'is not a lock file, so the lock cannot be taken',
        path: `locks/${name}`,
        fix,
      }
    })
}

function isLock(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  // That of a project which a prune forgets goes with it.
  if (stats === undefined) return true
  return stats.size === 0 && !stats.isDirectory()
}

function settingAside(path: string, why: string): Fix {
  return {
    stage: 'leftovers',
    action: `quarantine ${path}`,
    run: ({ away }) => void away.move(path, why),
  }
}
