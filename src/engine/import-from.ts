// Brings in what another system has kept: found and planned first, then asked, then done one by one.
import { realpathSync } from 'node:fs'
import * as z from 'zod/mini'
import {
  type BytePath,
  bytePathOf,
  fsPath,
  hasCode,
  IMPORT_SYSTEMS,
  type ImportPlan,
  type ImportProblem,
  type ImportSource,
  type ImportSystem,
  parsePathText,
  pathText,
  planImport,
  SavestateError,
  timesOf,
} from '../model/index.js'
import type { StoreContext } from './context.js'
import { findAres } from './import-ares.js'
import { findBreakpilot } from './import-breakpilot.js'
import { importFiles, outlookOfFiles } from './import-files.js'
import { findHermes } from './import-hermes.js'
import { importSession, outlookOfSession } from './import-session.js'
import {
  type FilesSource,
  Findings,
  isFolder,
  type Report,
  type SessionSource,
  type Source,
} from './import-source.js'
import { storeOperation } from './operation.js'

export type ImportFromResult = {
  readonly plan: ImportPlan
  readonly applied: boolean
  /** True if the person said no. */
  readonly declined: boolean
  readonly added: number
  readonly known: number
  /** Those of the plan, and those met on the way. */
  readonly problems: readonly ImportProblem[]
}

type Planned = {
  readonly view: ImportSource
  readonly problems: readonly ImportProblem[]
  /** How many were added. */
  readonly carryOut: (report: Report) => Promise<number>
}

const WHAT: Readonly<Record<ImportSystem, string>> = {
  hermes:
    'Name the folder that contains store/, folders named by 16 hex digits, or .yaml files: ~/.hermes/checkpoints by default.',
  ares: 'Name the folder that contains files such as <session>_<step>.json.',
  breakpilot: 'Name a JSON file with a list of { id, name, timestamp, data, metadata }.',
}

export const importFrom = storeOperation({
  name: 'import',
  summary: 'Import the checkpoints of another system',
  effect: 'adds',
  input: () =>
    z.strictObject({
      system: z.enum(IMPORT_SYSTEMS),
      path: z.string(),
      /** The session that everything goes to; for a system whose file is one session. */
      session: z.optional(z.string()),
      /** Put in front of the ids of the sessions. */
      prefix: z.optional(z.string()),
      dryRun: z._default(z.boolean(), false),
    }),
  async run(context, input, hooks): Promise<ImportFromResult> {
    const { system, session, prefix = '', dryRun } = input
    if (session !== undefined && system !== 'breakpilot') {
      throw new SavestateError('BAD_INPUT', `An import from ${system} may have many sessions`, {
        hint: 'Use --prefix to give all of them other names.',
      })
    }
    const findings = new Findings()
    const path = existing(input.path, system)
    if (isFolder(path) !== (system !== 'breakpilot')) {
      const what = system === 'breakpilot' ? 'a folder' : 'not a folder'
      throw new SavestateError('BAD_INPUT', `${pathText(path)} is ${what}`, { hint: WHAT[system] })
    }
    try {
      if (system === 'hermes') await findHermes(context, path, findings)
      else if (system === 'ares') await findAres(path, findings)
      else await findBreakpilot(path, { session, findings })
      if (findings.sources.length + findings.problems.length === 0) {
        throw new SavestateError('BAD_INPUT', `${pathText(path)} contains nothing from ${system}`, {
          hint: WHAT[system],
        })
      }
      const claimed = new Set<string>()
      const planned = findings.sources.map((source) =>
        source.type === 'files'
          ? plannedFiles(context, source, claimed)
          : plannedSession(context, source, prefix + source.id),
      )
      const problems = [...findings.problems, ...planned.flatMap((each) => each.problems)]
      const plan = planImport(
        planned.map(({ view }) => view),
        [...problems],
      )
      const { known } = plan
      const nothing = { plan, applied: false, declined: false, added: 0, known, problems }
      if (dryRun || plan.add === 0) return nothing
      if (hooks.confirmImport !== undefined && !(await hooks.confirmImport(plan)))
        return { ...nothing, declined: true }
      let added = 0
      let done = 0
      const onDone = () => {
        done += 1
        hooks.onProgress?.({ phase: 'import', files: done, bytes: 0, of: plan.add })
      }
      for (const { carryOut } of planned) added += await carryOut({ problems, onDone })
      return { ...nothing, applied: true, added, problems }
    } finally {
      await context.snapshots.closeSource()
    }
  },
})

/** `claimed`: what another history of the same import brings in already. */
function plannedFiles(context: StoreContext, source: FilesSource, claimed: Set<string>): Planned {
  const outlook = outlookOfFiles(context, source, claimed)
  return {
    view: {
      ...viewOf(source, source.commits),
      project: pathText(source.path),
      session: null,
      add: outlook.pending.size,
      known: outlook.known,
    },
    problems: [],
    carryOut: (report) => importFiles(context, { source, outlook }, report),
  }
}

function plannedSession(context: StoreContext, source: SessionSource, wished: string): Planned {
  const outlook = outlookOfSession(context, source, wished)
  return {
    view: {
      ...viewOf(source, source.items),
      project: null,
      session: outlook.target,
      add: outlook.pending.length,
      known: outlook.known,
    },
    problems: outlook.problems,
    carryOut: (report) => importSession(context, { source, outlook }, report),
  }
}

function viewOf({ kind, source }: Source, parts: readonly { readonly createdAtMs: number }[]) {
  return { kind, source, ...timesOf(parts.map(({ createdAtMs }) => createdAtMs)) }
}

/** The real path. */
function existing(text: string, system: ImportSystem): BytePath {
  try {
    const path = fsPath(parsePathText(text))
    return bytePathOf(realpathSync.native(path, 'buffer'))
  } catch (cause) {
    const isNowhere = hasCode(cause, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')
    if (!isNowhere && !hasCode(cause, 'ERR_INVALID_ARG_VALUE')) throw cause
    const shown = JSON.stringify(text.slice(0, 300))
    throw new SavestateError('BAD_INPUT', `There is no ${shown}`, { hint: WHAT[system], cause })
  }
}
