// `savestate doctor`: one page for a bug report. Versions, sizes, counts and findings, and none of the user's content.
import { readdirSync, statfsSync } from 'node:fs'
import { arch, homedir, release, type } from 'node:os'
import { join } from 'node:path'
import { backupTimeMs, SCHEMA_VERSION } from '../../ledger/index.js'
import {
  type Config,
  type ConfigSource,
  type ErrorCode,
  pathText,
  SavestateError,
} from '../../model/index.js'
import { gitVersionText, refuseOldGit } from '../../snapshot/index.js'
import { diskUsage, isSurelyDead } from '../../system/index.js'
import type { RepairContext, Problem } from './findings.js'
import type { Callbacks } from '../operation/callbacks.js'
import { pendingJournals } from '../restore/restore-journal.js'
import { storeConfig, untrustedIfReadable } from '../store/settings.js'
import { verifyDamaged } from './verify.js'

export type DoctorResult = {
  readonly versions: {
    readonly savestate: string
    readonly node: string
    /** `none` if git cannot be started. */
    readonly git: string
    readonly sqlite: string
    readonly system: string
  }
  /** Git is missing or too old; null if it is neither. */
  readonly gitProblem: { readonly message: string; readonly hint: string | null } | null
  /** With the user's home folder as ~. */
  readonly home: string
  readonly ledgerVersion: number
  /** When the backup of the ledger was made; null if there is none. */
  readonly ledgerBackupAt: Date | null
  /** Null if the configuration is invalid. */
  readonly settings:
    | readonly {
        readonly key: string
        readonly value: Config[keyof Config]
        readonly source: ConfigSource
      }[]
    | null
  /** Bytes on disk. */
  readonly sizes: Readonly<Record<string, number>>
  readonly freeBytes: number
  /** Null if the ledger cannot be read. */
  readonly counts: Readonly<
    Record<'projects' | 'sessions' | 'checkpoints' | 'damaged', number>
  > | null
  /** The number of projects with files that the user has not trusted yet. */
  readonly untrusted: number
  readonly unfinished: number
  readonly leases: number
  /** Newest first. */
  readonly failures: readonly {
    readonly at: Date
    readonly operation: string
    readonly code: string
    /** Only with `paths`: messages name files. */
    readonly message?: string
  }[]
  /** False if the quick verify could not run without a usable git. */
  readonly isVerified: boolean
  /** The findings of a quick verify, by kind. */
  readonly problems: readonly {
    readonly kind: Problem['kind']
    readonly severity: Problem['severity']
    readonly count: number
  }[]
  /** Only with `paths`. */
  readonly projects?: readonly string[]
}

const MAX_FAILURES = 10

export async function doctor(
  store: RepairContext,
  { version, paths }: { readonly version: string; readonly paths: boolean },
  callbacks: Callbacks,
): Promise<DoctorResult> {
  const { home, ledger } = store
  const gitProblem = await findGitProblem(home)
  const { problems, isVerified } = await verifyQuickly(store, gitProblem, callbacks)
  const isReadable = ledger !== undefined && !problems.some(({ path }) => path === 'ledger.db')
  const inside = isReadable ? ledger : undefined
  const { bavail, bsize } = statfsSync(home)
  const backupMs = backupTimeMs(home)
  return {
    versions: {
      savestate: version,
      node: process.version,
      git: gitProblem?.isMissing === true ? 'none' : await gitVersionText(home),
      sqlite: ledger?.rowChecks.sqliteVersion() ?? 'unknown',
      system: `${type()} ${release()} ${arch()}`,
    },
    gitProblem:
      gitProblem === undefined ? null : { message: gitProblem.message, hint: gitProblem.hint },
    home: shownHome(home),
    ledgerVersion: SCHEMA_VERSION,
    ledgerBackupAt: backupMs === undefined ? null : new Date(backupMs),
    settings: settingsIn(home),
    sizes: await sizesIn(home),
    freeBytes: bavail * bsize,
    counts: inside?.marks.counts() ?? null,
    untrusted: (inside?.projects() ?? []).filter(
      ({ project }) => untrustedIfReadable(home, project.path).length > 0,
    ).length,
    unfinished: pendingJournals(home).length,
    leases: (inside?.marks.leases() ?? []).filter(({ owner }) => !isSurelyDead(owner)).length,
    failures: (inside?.failures.list(MAX_FAILURES) ?? []).map((failure) => ({
      at: new Date(failure.atMs),
      operation: failure.operation,
      code: failure.code,
      ...(paths ? { message: failure.message } : {}),
    })),
    isVerified,
    problems: countsByKind(problems),
    ...(paths
      ? { projects: (inside?.projects() ?? []).map(({ project }) => pathText(project.path)) }
      : {}),
  }
}

type GitProblem = {
  readonly message: string
  readonly hint: string | null
  readonly isMissing: boolean
}

async function findGitProblem(home: string): Promise<GitProblem | undefined> {
  const missing = await gitVersionText(home).then(() => undefined, faultOf)
  const fault = missing ?? (await refuseOldGit(home).then(() => undefined, faultOf))
  if (fault === undefined) return undefined
  return { message: fault.message, hint: fault.hint, isMissing: missing !== undefined }
}

function faultOf(error: unknown): SavestateError {
  if (error instanceof SavestateError && GIT_FAULTS.includes(error.code)) return error
  throw error
}

const GIT_FAULTS: readonly ErrorCode[] = ['GIT_MISSING', 'GIT_FAILED']

/** Without a usable git the rest of the page still helps. */
async function verifyQuickly(
  store: RepairContext,
  gitProblem: GitProblem | undefined,
  callbacks: Callbacks,
): Promise<{ readonly problems: readonly Problem[]; readonly isVerified: boolean }> {
  try {
    const { problems } = await verifyDamaged(store, { quick: true }, callbacks)
    if (gitProblem?.isMissing !== true) return { problems, isVerified: true }
    // A repository that was created without git is incomplete, not damaged.
    const others = problems.filter(({ kind }) => kind !== 'repository')
    return { problems: others, isVerified: others.length > 0 }
  } catch (error) {
    if (gitProblem === undefined) throw error
    faultOf(error)
    return { problems: [], isVerified: false }
  }
}

function settingsIn(home: string): DoctorResult['settings'] {
  try {
    return storeConfig({ home }).values.map(({ counts: _counts, ...setting }) => setting)
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'CONFIG_INVALID') return null
    throw error
  }
}

function shownHome(home: string): string {
  const own = homedir()
  return home === own || home.startsWith(`${own}/`) ? `~${home.slice(own.length)}` : home
}

async function sizesIn(home: string): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {}
  for (const name of readdirSync(home)) {
    const part = name.startsWith('ledger.db') ? 'ledger' : name.replace(/\.git$/, '')
    if (!PARTS.includes(part)) continue
    sizes[part] = (sizes[part] ?? 0) + (await diskUsage(join(home, name)))
  }
  return { ...sizes, total: await diskUsage(home) }
}

const PARTS = ['ledger', 'objects', 'cache', 'journal', 'tmp', 'damaged']

function countsByKind(problems: readonly Problem[]): DoctorResult['problems'] {
  const counts = new Map<string, DoctorResult['problems'][number]>()
  for (const { kind, severity } of problems) {
    const key = `${kind} ${severity}`
    counts.set(key, { kind, severity, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}
