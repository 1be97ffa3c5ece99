// Fixes the findings of `verify`: plan, show, confirm, apply, in rounds. Derived data is rebuilt, damaged data is moved aside, and
// nothing that could contain the user's data is deleted. A repair can be stopped after any step and run again.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { hasCode, SavestateError } from '../../model/index.js'
import { ledgerFiles } from '../../ledger/index.js'
import { failpoint, type Lock, SetAside, takeLock } from '../../system/index.js'
import { storeLockPath } from '../operation/context.js'
import {
  type RepairContext,
  type Finding,
  type Fix,
  type Problem,
  problemOf,
  STAGES,
} from './findings.js'
import type { Callbacks } from '../operation/callbacks.js'
import { examine, examineTwice } from './verify.js'

export type RepairStep = { readonly action: string; readonly problem: Problem }

export type RepairResult = {
  /** The steps that were run; with `dryRun` the first steps of the plan. */
  readonly steps: readonly RepairStep[]
  readonly applied: boolean
  readonly declined: boolean
  /** The folder with the damaged files; null if there are none. */
  readonly setAside: string | null
  /** The remaining problems. */
  readonly problems: readonly Problem[]
}

export type RepairRequest = {
  readonly dryRun: boolean
  readonly confirm: ((steps: readonly RepairStep[]) => Promise<boolean>) | undefined
  readonly callbacks: Callbacks
  /** Closes the store and opens it again. */
  readonly reopen: (store: RepairContext) => Promise<RepairContext>
}

/** More rounds than stages would mean that steps undo each other. */
const MAX_ROUNDS = STAGES.length + 2
/** Longer than a prune in the background. */
const LOCK_WAIT_MS = 15_000

export async function repair(first: RepairContext, request: RepairRequest): Promise<RepairResult> {
  const locks = new RepairLocks()
  try {
    return await repairRounds(first, request, locks)
  } finally {
    locks.release()
  }
}

async function repairRounds(
  first: RepairContext,
  request: RepairRequest,
  locks: RepairLocks,
): Promise<RepairResult> {
  const { dryRun, confirm, callbacks } = request
  let store = first
  const aside = join(store.home, 'damaged', timestamp(store))
  const away = new SetAside({ root: store.home, folder: aside })
  const steps: RepairStep[] = []
  const tried = new Set<string>()
  const resultOf = (
    findings: readonly Finding[],
    rest: Partial<RepairResult> = {},
  ): RepairResult => ({
    steps,
    applied: steps.length > 0 && !dryRun,
    declined: false,
    setAside: away.isUsed ? aside : null,
    problems: findings.map(problemOf),
    ...rest,
  })
  const inode = ledgerInode(store)
  // Without locks: other processes may be saving.
  let findings = await examineTwice(store, { quick: false }, callbacks)
  for (let round = 1; ; round++) {
    const due = nextFixes(findings, tried)
    if (due.length === 0 || round > MAX_ROUNDS) return resultOf(findings)
    const planned = due.map(({ finding, fix }) => ({
      action: fix.action,
      problem: problemOf(finding),
    }))
    if (dryRun) return resultOf(findings, { steps: planned })
    callbacks.signal?.throwIfAborted()
    if (confirm !== undefined) {
      // Other processes may use the store while the question is open, also between two rounds.
      locks.release()
      if (!(await confirm(planned))) return resultOf(findings, { declined: true })
    }
    // Other processes may have repaired the store meanwhile; their repaired files must not be moved away.
    if (await locks.take(store.home)) {
      // Keep the same file open: closing it would truncate a damaged log before it is moved aside.
      const isSame = store.ledger !== undefined && ledgerInode(store) === inode
      store = { ...(isSame ? store : await request.reopen(store)), isAlone: true }
      findings = await examine(store, { quick: false }, callbacks)
      const now = nextFixes(findings, tried)
      if (!isDeepStrictEqual(now.map(keyOf), due.map(keyOf))) continue
      due.splice(0, due.length, ...now)
    }
    for (const { fix, key } of due) {
      // Each step is complete in itself.
      callbacks.signal?.throwIfAborted()
      tried.add(key)
      failpoint('repair:step')
      await fix.run({ store, away, aside })
    }
    steps.push(...planned)
    store = { ...(await request.reopen(store)), isAlone: true }
    findings = await examine(store, { quick: false }, callbacks)
  }
}

/** Another repair may have replaced the ledger. */
function ledgerInode({ home }: RepairContext): bigint | undefined {
  const { ledger } = ledgerFiles(home)
  return existsSync(ledger) ? statSync(ledger, { bigint: true }).ino : undefined
}

function keyOf({ key }: { readonly key: string }): string {
  return key
}

/** The fixes of the earliest stage that has any. Later stages are checked again after that. */
function nextFixes(
  findings: readonly Finding[],
  tried: ReadonlySet<string>,
): { readonly finding: Finding; readonly fix: Fix; readonly key: string }[] {
  const open = findings.flatMap((finding) => {
    const { fix, kind, path, checkpoint } = finding
    if (fix === undefined) return []
    const key = JSON.stringify([fix.stage, fix.action, kind, path, checkpoint])
    return tried.has(key) ? [] : [{ finding, fix, key }]
  })
  const earliest = STAGES.find((stage) => open.some(({ fix }) => fix.stage === stage))
  const due = open.filter(({ fix }) => fix.stage === earliest)
  // Several findings may have the same fix.
  const actions = new Set<string>()
  return due.filter(({ fix }) => !actions.has(fix.action) && actions.add(fix.action))
}

/**
 * No other process may have the store open during a repair: its cached view would be wrong afterwards. The locks of the projects
 * stop other calls of this process.
 */
class RepairLocks {
  readonly #held = new Map<string, Lock>()

  /** Takes the locks it does not have: a repair may have fixed one since. True if it had none before. */
  async take(home: string): Promise<boolean> {
    const isFirst = this.#held.size === 0
    for (const path of [storeLockPath(home), ...projectLocks(join(home, 'locks'))]) {
      if (this.#held.has(path) || !canBeLock(path)) continue
      const lock = await takeLock(path, {
        waitMs: LOCK_WAIT_MS,
        purpose: 'repair',
      }).catch((error: unknown) => {
        // A damaged lock is fixed by the repair.
        if (error instanceof SavestateError) throw error
        return null
      })
      if (lock === undefined) {
        throw new SavestateError('STORE_BUSY', 'Another process has the store open', {
          hint: 'End it, then run `savestate repair` again. Nothing has been changed.',
        })
      }
      if (lock !== null) this.#held.set(path, lock)
    }
    return isFirst
  }

  release(): void {
    for (const lock of this.#held.values()) lock.release()
    this.#held.clear()
  }
}

/** False for a pipe, a folder, a broken link, or a file with content: no process can have locked those. */
function canBeLock(path: string): boolean {
  if (existsSync(path)) return statSync(path).isFile() && statSync(path).size === 0
  const folder = dirname(path)
  const isFolder = existsSync(folder) && statSync(folder).isDirectory()
  return isFolder && !readdirSync(folder).includes(basename(path))
}

function projectLocks(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^[bcdfghjklmnpqrstvwxz]{18}$|^collect$/.test(name))
      .map((name) => join(folder, name))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return []
    throw error
  }
}

function timestamp({ clock }: RepairContext): string {
  return new Date(clock.nowMs()).toISOString().replaceAll(/[:.]/g, '-')
}
