// Checks the journals of unfinished rewinds: whether each is readable, and whether its rewind is still running.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Ledger } from '../../ledger/index.js'
import { parseProjectId, pathText, SavestateError } from '../../model/index.js'
import { takeLock } from '../../system/index.js'
import { type RepairContext, type Finding, finding, quarantine } from './findings.js'
import { pendingJournals, readJournal } from '../restore/restore-journal.js'

/** Without a ledger it only checks that they are readable. */
export async function checkJournals(
  { home, isAlone }: RepairContext,
  ledger: Ledger | undefined,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const name of pendingJournals(home)) {
    const path = `journal/${name}.json`
    const fault = journalFault(home, name, ledger)
    if (fault !== undefined) {
      const why = `a journal that cannot be used: ${fault}`
      findings.push(
        finding('journal', fault, { path, fix: quarantine(path, { stage: 'leftovers', why }) }),
      )
    } else if (ledger !== undefined && (isAlone || (await isFree(home, name)))) {
      const project = ledger.project(parseProjectId(name))
      const where = project === undefined ? name : pathText(project.path)
      findings.push(finding('interrupted', `a rewind of ${where} is unfinished`, { path }))
    }
  }
  return findings
}

function journalFault(home: string, name: string, ledger: Ledger | undefined): string | undefined {
  try {
    const id = parseProjectId(name)
    const project = ledger?.project(id)
    const journal = readJournal(home, id)
    if (ledger === undefined || journal === undefined) return undefined
    if (project === undefined) return 'its project is unknown'
    const isThere = ledger.checkpoints.get(journal.safety) !== undefined
    return isThere ? undefined : 'its safety checkpoint is missing'
  } catch (error) {
    if (error instanceof SavestateError && error.code !== 'STORE_NEWER') return error.message
    throw error
  }
}

/** False while another process still runs the rewind. */
async function isFree(home: string, name: string): Promise<boolean> {
  const folder = join(home, 'locks')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = await takeLock(join(folder, name), { waitMs: 0, purpose: 'verify' })
  lock?.release()
  return lock !== undefined
}
