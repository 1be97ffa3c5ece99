// Puts right what verify finds: plan, show, confirm, do. What is derived is made again, what is damaged is set aside, and
// nothing is deleted that could hold something of the user's. Each step leaves the store as it was or better, so that a
// repair can be stopped anywhere and begun again.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { hasCode, SavestateError } from '../../model/index.js'
import { ledgerFiles } from '../../ledger/index.js'
import { failpoint, type Lock, SetAside, takeLock } from '../../system/index.js'
import { storeLockPath } from '../operation/context.js'
import {
  type CareContext,
  type Finding,
  type Fix,
  type Problem,
  problemOf,
  type Stage,
  STAGES,
} from './findings.js'
import type { Hooks } from '../operation/callbacks.js'
import { examine, examineTwice } from './verify.js'

export type RepairStep = {
  readonly action: string
  /** What it is about. */
  readonly problem: Problem
}

export type RepairResult = {
  /** What was done; with `dryRun` what would be done first. */
  readonly steps: readonly RepairStep[]
  readonly applied: boolean
  readonly declined: boolean
  /** Where damaged files are now, if there were any. */
  readonly setAside: string | null
  /** What is left. */
  readonly problems: readonly Problem[]
}

export type RepairRequest = {
  readonly dryRun: boolean
  readonly confirm: ((steps: readonly RepairStep[]) => Promise<boolean>) | undefined
  readonly hooks: Hooks
  /** A new look at the store, after what was open is closed. */
  readonly reopen: (care: CareContext) => Promise<CareContext>
}

/** More rounds than there are stages would mean that steps undo each other. */
const MAX_ROUNDS = STAGES.length + 2
/** A prune in the background is over by then. */
const LOCK_WAIT_MS = 15_000

export async function repair(first: CareContext, request: RepairRequest): Promise<RepairResult> {
  const locks = new Locks()
  try {
    return await repairRounds(first, request, locks)
  } finally {
    locks.release()
  }
}

async function repairRounds(
  first: CareContext,
  request: RepairRequest,
  locks: Locks,
): Promise<RepairResult> {
  const { dryRun, confirm, hooks } = request
  let care = first
  const aside = join(care.home, 'damaged', stamp(care))
  const away = new SetAside({ root: care.home, folder: aside })
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
  const inode = ledgerInode(care)
  // No lock is held yet: other processes may be saving.
  let findings = await examineTwice(care, { quick: false }, hooks)
  for (let round = 1; ; round++) {
    const due = nextFixes(findings, tried)
    if (due.length === 0 || round > MAX_ROUNDS) return resultOf(findings)
    const planned = due.map(({ finding, fix }) => ({
      action: fix.action,
      problem: problemOf(finding),
    }))
    if (dryRun) return resultOf(findings, { steps: planned })
    hooks.signal?.throwIfAborted()
    if (confirm !== undefined) {
      // Others use the store while a question is open, also between two rounds.
      locks.release()
      if (!(await confirm(planned))) return resultOf(findings, { declined: true })
    }
    // Others may have worked on the store while we looked, asked and waited: what they have put right must not be moved away.
    if (await locks.take(care.home)) {
      // Not where it is the same: to close it would cut off what is damaged in its log, before that is kept.
      const isSame = care.ledger !== undefined && ledgerInode(care) === inode
      care = { ...(isSame ? care : await request.reopen(care)), isAlone: true }
      findings = await examine(care, { quick: false }, hooks)
      const now = nextFixes(findings, tried)
      if (!isDeepStrictEqual(now.map(keyOf), due.map(keyOf))) continue
      due.splice(0, due.length, ...now)
    }
    for (const { fix, key } of due) {
      // Each step is complete in itself.
      hooks.signal?.throwIfAborted()
      tried.add(key)
      failpoint('repair:step')
      await fix.run({ care, away, aside })
    }
    steps.push(...planned)
    care = { ...(await request.reopen(care)), isAlone: true }
    findings = await examine(care, { quick: false }, hooks)
  }
}

/** A repair may have put another one in its place. */
function ledgerInode({ home }: CareContext): bigint | undefined {
  const { ledger } = ledgerFiles(home)
  return existsSync(ledger) ? statSync(ledger, { bigint: true }).ino : undefined
}

function keyOf({ key }: { readonly key: string }): string {
  return key
}

/** Those of the earliest stage that has any: what comes later is judged anew. */
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
  const place = (stage: Stage) => STAGES.indexOf(stage)
  const earliest = Math.min(...open.map(({ fix }) => place(fix.stage)))
  const due = open.filter(({ fix }) => place(fix.stage) === earliest)
  // Many findings may have one remedy.
  const actions = new Set<string>()
  return due.filter(({ fix }) => !actions.has(fix.action) && actions.add(fix.action))
}

/**
 * Nobody may have the store open while things are put right: what another process remembers of it would be wrong
 * afterwards. The locks of the projects keep out who has it open in this process.
 */
class Locks {
  readonly #held = new Map<string, Lock>()

  /** Those that are not held yet: one may have been put right since. Whether this process has become alone by it. */
  async take(home: string): Promise<boolean> {
    const isFirst = this.#held.size === 0
    for (const path of [storeLockPath(home), ...projectLocks(join(home, 'locks'))]) {
      if (this.#held.has(path) || !canBeLock(path)) continue
      const lock = await takeLock(path, {
        waitMs: LOCK_WAIT_MS,
        purpose: 'repair',
      }).catch((error: unknown) => {
        // One that is damaged is put right by the repair itself.
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

/** False for a pipe, a folder, a link that leads nowhere, or a file with content: no process ever locked those. */
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

function stamp({ clock }: CareContext): string {
  return new Date(clock.nowMs()).toISOString().replaceAll(/[:.]/g, '-')
}
