// Reads everything that a remote has, into a temporary store that checks it: the chain of each log, every row, element and node, every
// object and tree of the files.
import { type LogName, SavestateError } from '../../model/index.js'
import type { LogHead } from '../../remote/index.js'
import type { Callbacks } from '../operation/callbacks.js'
import type { StoreContext } from '../operation/context.js'
import { catchUp, fetchFiles } from '../sharing/index.js'
import { type NamedRemote, withRemote } from './named-remote.js'
import { type RemoteView, viewRemote } from './remotes-file.js'
import { temporaryProject } from './temporary-project.js'

export type RemoteProblem = LogName & {
  /** The checkpoint whose files are damaged; null for a damaged log. */
  readonly checkpoint: string | null
  readonly code: string
  readonly message: string
}

export type VerifyRemoteResult = {
  readonly remote: RemoteView
  readonly sessions: number
  readonly threads: number
  /** Projects with checkpoints that belong to no session. */
  readonly projects: number
  readonly segments: number
  /** Checkpoints whose files were read. */
  readonly files: number
  readonly problems: readonly RemoteProblem[]
}

type Request = {
  /** An empty store, which the caller removes. */
  readonly scratch: StoreContext
  readonly remote?: string | undefined
  readonly signal?: Callbacks['signal']
}

export async function verifyRemote(
  context: Pick<StoreContext, 'home'>,
  { scratch, remote: name, signal }: Request,
): Promise<VerifyRemoteResult> {
  return withRemote(context, name, async (named) => {
    const damaged: RemoteProblem[] = []
    const heads = await named.remote.heads({
      onDamaged: ({ log, damage: { code, message } }) =>
        damaged.push({ ...log, checkpoint: null, code, message }),
    })
    const results: LogResult[] = []
    for (const head of heads) {
      signal?.throwIfAborted()
      results.push(await checkLog(scratch, named, head))
    }
    const count = (kind: LogName['kind']) =>
      heads.filter(({ log }) => log.kind === kind).length +
      damaged.filter((each) => each.kind === kind).length
    const sum = (of: (result: LogResult) => number) =>
      results.reduce((total, result) => total + of(result), 0)
    return {
      remote: viewRemote(named.entry),
      sessions: count('session'),
      threads: count('thread'),
      projects: count('project'),
      segments: sum(({ segments }) => segments),
      files: sum(({ files }) => files),
      problems: [...damaged, ...results.flatMap(({ problems }) => problems)],
    }
  })
}

type LogResult = Pick<VerifyRemoteResult, 'segments' | 'files' | 'problems'>

async function checkLog(
  scratch: StoreContext,
  { remote }: NamedRemote,
  { log, project: there }: LogHead,
): Promise<LogResult> {
  const { ledger } = scratch
  const problems: RemoteProblem[] = []
  const project = temporaryProject(scratch, there)
  const caught = await check(problems, { ...log, checkpoint: null }, () =>
    catchUp(scratch, remote, log, { project }),
  )
  if (caught === undefined || log.kind === 'thread')
    return { segments: caught?.segments ?? 0, files: 0, problems }
  let files = 0
  const missing = ledger.sharing.get(log) === undefined ? [] : ledger.sharing.missingFiles(log)
  for (const { checkpoint } of missing) {
    await check(problems, { ...log, checkpoint }, () => fetchFiles(scratch, remote, checkpoint))
    files += 1
  }
  return { segments: caught.segments, files, problems }
}

/** Errors of the connection end everything; errors of the data are problems. */
async function check<Value>(
  problems: RemoteProblem[],
  at: LogName & Pick<RemoteProblem, 'checkpoint'>,
  work: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SavestateError) || OF_CONNECTION.includes(error.code)) throw error
    problems.push({ ...at, code: error.code, message: error.message })
    return undefined
  }
}

const OF_CONNECTION = ['REMOTE_UNREACHABLE', 'REMOTE_REFUSED', 'DISK_FULL', 'FILE_FAILED']
