// Imports the checkpoints of another tool: finds its histories, which `importCheckpoints` then plans and adds.
import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import {
  type BytePath,
  bytePathFromBytes,
  type CallOptions,
  explainSystemError,
  fsPath,
  hasCode,
  type ImportCheckpointsResult,
  type ImportPlan,
  parsePathText,
  pathText,
  SavestateError,
  type Store,
} from '../internal.js'
import { findAres } from './ares.js'
import { findBreakpilot } from './breakpilot.js'
import { findHermes } from './hermes.js'
import { Found, isFolder } from './source.js'

export type ImportSystem = 'hermes' | 'ares' | 'breakpilot'

export type ImportOptions = {
  /** As text (`pathText`); for hermes by default its own folder. */
  readonly path?: string
  /** The session of all items; only for breakpilot. */
  readonly session?: string
  /** Put in front of the ids of new sessions. */
  readonly prefix?: string
  /** Only the plan. */
  readonly dryRun?: boolean
}

const EXPECTED: Readonly<Record<ImportSystem, string>> = {
  hermes:
    'Name the folder that contains store/, folders named by 16 hex digits, or .yaml files: ~/.hermes/checkpoints by default.',
  ares: 'Name the folder that contains files such as <session>_<step>.json.',
  breakpilot: 'Name a JSON file with a list of { id, name, timestamp, data, metadata }.',
}

/**
 * Only reads what is at `path`. Checkpoints that were imported before are not added again, and what cannot be read is
 * listed with the reason. Throws BAD_INPUT if there is nothing of that tool.
 */
export async function importFrom(
  store: Store,
  system: ImportSystem,
  { path = defaultPath(system), session, ...options }: ImportOptions,
  hooks?: CallOptions & {
    readonly confirm?: (plan: ImportPlan) => Promise<boolean>
  },
): Promise<ImportCheckpointsResult> {
  if (session !== undefined && system !== 'breakpilot') {
    throw new SavestateError('BAD_INPUT', `An import from ${system} may have many sessions`, {
      hint: 'Use --prefix to give all of them other names.',
    })
  }
  const { histories, problems } = await find(system, path, session)
  return store.maintenance.importCheckpoints({ ...options, histories, problems, ...hooks })
}

function defaultPath(system: ImportSystem): string {
  if (system !== 'hermes') {
    throw new SavestateError('BAD_INPUT', 'PATH is missing', {
      hint: `Name what to read: savestate import ${system} PATH`,
    })
  }
  const home = process.env['HERMES_HOME'] ?? ''
  const folder = join(home === '' ? join(homedir(), '.hermes') : home, 'checkpoints')
  if (existsSync(folder)) return folder
  throw new SavestateError('BAD_INPUT', `There is no folder ${folder}`, {
    hint: 'Hermes keeps its checkpoints there, or where HERMES_HOME says. To read another folder: savestate import hermes PATH',
  })
}

async function find(
  system: ImportSystem,
  text: string,
  session: string | undefined,
): Promise<Found> {
  const hint = EXPECTED[system]
  const found = new Found()
  try {
    const path = realPath(text, hint)
    if (isFolder(path) !== (system !== 'breakpilot')) {
      const what = system === 'breakpilot' ? 'a folder' : 'not a folder'
      throw new SavestateError('BAD_INPUT', `${pathText(path)} is ${what}`, { hint })
    }
    if (system === 'hermes') await findHermes(path, found)
    else if (system === 'ares') await findAres(path, found)
    else await findBreakpilot(path, found, session)
    if (found.histories.length + found.problems.length > 0) return found
    const message = `${pathText(path)} contains nothing from ${system}`
    throw new SavestateError('BAD_INPUT', message, { hint })
  } catch (error) {
    throw explainSystemError(error)
  }
}

function realPath(text: string, hint: string): BytePath {
  try {
    const path = fsPath(parsePathText(text))
    return bytePathFromBytes(realpathSync.native(path, 'buffer'))
  } catch (cause) {
    const isMissing = hasCode(cause, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')
    if (!isMissing && !hasCode(cause, 'ERR_INVALID_ARG_VALUE')) throw cause
    const shown = JSON.stringify(text.slice(0, 300))
    throw new SavestateError('BAD_INPUT', `There is no ${shown}`, { hint, cause })
  }
}
