// Removes a path from every checkpoint of the project, and its contents from the store. Order of writes (docs/guide/store.md#forget):
// objects, refs beside the old ones, all rows in one transaction, the refs themselves, then a collection. The transaction is the
// point of no return.
import * as z from 'zod/mini'
import {
  type BytePath,
  hasFiles,
  pathText,
  type Project,
  ROOT,
  SavestateError,
} from '../../model/index.js'
import type { StaleLog } from '../../ledger/index.js'
import { readRemotes } from '../remotes/remotes-file.js'
import type { Rewritten } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { removeAndCollect } from './gc.js'
import { findKnownProject, type StoreContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { commitMetadata, replaceCommits } from '../store/replace-commits.js'
import { parseProjectPath } from '../operation/project-path.js'

export type ForgetResult = {
  readonly path: string
  /** The checkpoints that contained it. */
  readonly checkpoints: readonly string[]
  /** The maximum over all checkpoints. */
  readonly files: number
  readonly bytes: number
  readonly applied: boolean
  /** The newest checkpoint contained it, so the next save will probably capture it again. */
  readonly isCurrent: boolean
  /** The names of the remotes that still have it, until a push and a prune there. */
  readonly remotes: readonly string[]
  readonly bytesReclaimed: number
}

export const forget = projectOperation({
  name: 'forget',
  summary: 'Remove a path from all history',
  effect: 'changes-store',
  input: () => z.strictObject({ path: z.string(), dryRun: z._default(z.boolean(), false) }),
  async run(context, input, callbacks): Promise<ForgetResult> {
    const path = parseProjectPath(input.path)
    if (path === ROOT)
      throw new SavestateError('BAD_INPUT', 'forget takes a path in the project, not the project', {
        hint: "Name a file or folder in it. To delete this project's history: savestate clear",
      })
    const project = findKnownProject(context)
    if (project === undefined) throw unknownPathError(path)
    const work = () => forgetUnderLock(context, project, { path, dryRun: input.dryRun })
    return removeAndCollect(context, project, { purpose: 'forget', callbacks, work })
  },
})

async function forgetUnderLock(
  context: StoreContext,
  project: Project,
  { path, dryRun }: { readonly path: BytePath; readonly dryRun: boolean },
): Promise<Omit<ForgetResult, 'bytesReclaimed'>> {
  const points = context.ledger.checkpoints.list({ project: project.id }).filter(hasFiles)
  const rewritten = await context.snapshots.rewrite({
    project: project.id,
    path,
    checkpoints: points.map((point) => commitMetadata(point, project)),
  })
  if (rewritten.length === 0) throw unknownPathError(path)
  failpoint('forget:written')
  const ids = rewritten.map(({ checkpoint }) => checkpoint)
  const stale = context.ledger.sharing.staleLogs(project.id, ids)
  if (!dryRun) await replaceRows(context, project, { rewritten, path, stale })
  return {
    path: pathText(path),
    checkpoints: ids,
    files: Math.max(...rewritten.map(({ files }) => files)),
    bytes: Math.max(...rewritten.map(({ bytes }) => bytes)),
    applied: !dryRun,
    isCurrent: rewritten.some(({ checkpoint }) => checkpoint === points[0]?.id),
    remotes: namesOf(context, stale),
  }
}

async function replaceRows(
  context: StoreContext,
  project: Project,
  {
    rewritten,
    path,
    stale,
  }: {
    readonly rewritten: readonly Rewritten[]
    readonly path: BytePath
    readonly stale: readonly StaleLog[]
  },
): Promise<void> {
  const { ledger } = context
  await replaceCommits(context, project, {
    rewritten,
    writeRows() {
      for (const { checkpoint, ...replacement } of rewritten) {
        const details = ledger.checkpoints.details(checkpoint)
        ledger.pruning.replaceFiles(checkpoint, { ...replacement, path }, details)
      }
      ledger.sharing.renewPacks(stale)
    },
  })
}

/** A remote that was removed has no name, and cannot be reached either. */
function namesOf({ home, fleet }: StoreContext, logs: readonly StaleLog[]): readonly string[] {
  const ids = new Set(logs.map(({ remote }) => remote))
  const named = readRemotes(home).flatMap(({ id, name }) => (ids.delete(id ?? '') ? name : []))
  return ids.size > 0 && fleet !== undefined ? [...named, fleet.remote.label] : named
}

function unknownPathError(path: BytePath): SavestateError {
  return new SavestateError(
    'BAD_INPUT',
    `No checkpoint of this project has ${JSON.stringify(pathText(path))}`,
    {
      hint: 'Check the spelling. Paths are relative to the current folder, or to DIR with `-C DIR`.',
    },
  )
}
