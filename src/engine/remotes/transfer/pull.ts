// Gets sessions, threads and the other checkpoints of projects from a named remote (mode behind, docs/internals/shared.md).
import * as z from 'zod/mini'
import {
  type ErrorText,
  type LogKind,
  type LogName,
  parsePathText,
  SavestateError,
} from '../../../model/index.js'
import type { DamagedLog, LogHead } from '../../../remote/index.js'
import type { StoreContext } from '../../operation/context.js'
import { storeOperation } from '../../operation/operation.js'
import { logsWith } from './local-logs.js'
import { type NamedRemote, withRemote } from '../named-remote.js'
import { reportErrorsOfOne } from './one-log.js'
import { NOTHING_RECEIVED, pullLog, type ReceivedLog } from './pull-log.js'
import { requireHead } from '../require-head.js'
import { type RemoteView, viewRemote } from '../remotes-file.js'

export type PulledLog = ReceivedLog & {
  /** `project`: the checkpoints of a project that belong to no session. */
  readonly kind: LogKind
  readonly id: string
  /** Why it was not pulled; null if it was. */
  readonly error: ErrorText | null
}

export type PullResult = { readonly remote: RemoteView; readonly pulled: readonly PulledLog[] }

export const pull = storeOperation({
  name: 'pull',
  summary: 'Get sessions and checkpoints from a remote',
  effect: 'adds',
  input: () =>
    z.strictObject({
      remote: z.optional(z.string()),
      session: z.optional(z.string()),
      /** Everything that the remote has. */
      all: z.optional(z.boolean()),
      /** The path of the project that the caller is in. */
      project: z.optional(z.string()),
      /** The path of the project that the session belongs to from now on. */
      into: z.optional(z.string()),
      take: z.optional(z.boolean()),
    }),
  async run(context, input, { signal }): Promise<PullResult> {
    refuseCombination(input)
    const { remote, session, all = false, project, into, take = false } = input
    const options = {
      folder: project === undefined ? undefined : parsePathText(project),
      into: into === undefined ? undefined : parsePathText(into),
      take,
      all,
    }
    return withRemote(context, remote, async (named) => {
      const pulled: PulledLog[] = []
      const onDamaged = ({ log, damage }: DamagedLog) =>
        pulled.push({ ...log, ...NOTHING_RECEIVED, error: damage.toJSON() })
      for (const head of await selectHeads(context, named, { session, all, onDamaged })) {
        signal?.throwIfAborted()
        const work = () => pullLog(context, named, { head, ...options, signal })
        // A caller that names one session gets its error.
        const { value = NOTHING_RECEIVED, error } =
          session === undefined ? await reportErrorsOfOne(work) : { value: await work() }
        pulled.push({ ...head.log, ...value, error: error?.toJSON() ?? null })
      }
      return { remote: viewRemote(named.entry), pulled }
    })
  },
})

type Selection = {
  readonly session?: string | undefined
  readonly all: boolean
  readonly onDamaged: (damaged: DamagedLog) => void
}

function refuseCombination({
  session,
  into,
  take,
  all,
}: Partial<Record<'session' | 'into', string | undefined>> &
  Partial<Record<'take' | 'all', boolean | undefined>>): void {
  if (session !== undefined && all === true)
    throw new SavestateError('BAD_INPUT', 'Name a session, or pull all')
  if (session === undefined && (into !== undefined || take === true))
    throw new SavestateError('BAD_INPUT', 'Name the session', {
      hint: '`savestate sessions --remote` lists those of the remote.',
    })
}

/** Without a name and without `all`: what this store and the remote both have. */
async function selectHeads(
  context: StoreContext,
  { remote, entry }: NamedRemote,
  { session, all, onDamaged }: Selection,
): Promise<readonly LogHead[]> {
  if (session !== undefined) return [await requireHead({ remote, entry }, session)]
  const shared = new Set(logsWith(context, entry.id).map(({ log }) => nameText(log)))
  const isWanted = ({ log }: Pick<LogHead, 'log'>) => all || shared.has(nameText(log))
  const heads = await remote.heads({
    onDamaged: (damaged) => isWanted(damaged) && onDamaged(damaged),
  })
  return heads.filter(isWanted)
}

function nameText({ kind, id }: LogName): string {
  return `${kind} ${id}`
}
