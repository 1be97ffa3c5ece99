// Removes prompts and commands from reasons when a store gets its first key. Reasons are not encrypted, so the hooks of agents
// write only the names of tools there if the store has a key; `rekey` changes older rows the same way. The reason is also the
// message of the checkpoint's commit, so the commit is rewritten.
import { callsReason, HIDDEN_PROMPT, isPromptReason, promptReason } from '../../base/index.js'
import { type Checkpoint, type CheckpointId, hasFiles, type Project } from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { type StoreContext } from '../operation/context.js'
import { ID_LETTERS, nameTarget } from '../checkpoints/describe-target.js'
import type { Callbacks } from '../operation/callbacks.js'
import { withRecoveredProject } from '../restore/recover.js'
import { commitMetadata, replaceCommits } from './replace-commits.js'

/** Can be killed and run again: it skips checkpoints that are done. */
export async function hideReasons(context: StoreContext, callbacks: Callbacks): Promise<void> {
  const { ledger } = context
  const hidden = findReasonsToHide(ledger.checkpoints.list({}).reverse())
  for (const { project } of ledger.projects())
    await withRecoveredProject(context, project, {
      purpose: 'rekey',
      callbacks,
      work: () => hideInProject(context, project, hidden),
    })
  ledger.transaction(() => {
    for (const [id, reason] of hidden) {
      const checkpoint = ledger.checkpoints.get(id)
      if (checkpoint?.commit === null) ledger.rekey.setReason(id, { reason, commit: null })
    }
  })
}

async function hideInProject(
  context: StoreContext,
  project: Project,
  hidden: Hidden,
): Promise<void> {
  const { ledger, snapshots } = context
  const checkpoints = ledger.checkpoints.list({ project: project.id }).flatMap((checkpoint) => {
    const reason = hidden.get(checkpoint.id)
    return reason === undefined || !hasFiles(checkpoint) ? [] : [{ ...checkpoint, reason }]
  })
  if (checkpoints.length === 0) return
  const rewritten = await snapshots.rewrite({
    project: project.id,
    path: undefined,
    checkpoints: checkpoints.map((checkpoint) => commitMetadata(checkpoint, project)),
  })
  failpoint('rekey:written')
  await replaceCommits(context, project, {
    rewritten,
    writeRows() {
      for (const { checkpoint, commit } of rewritten)
        ledger.rekey.setReason(checkpoint, { reason: hidden.get(checkpoint) ?? '', commit })
    },
  })
}

type Hidden = ReadonlyMap<CheckpointId, string>

/** Takes checkpoints oldest first, because rewinds and forks quote older reasons. */
function findReasonsToHide(checkpoints: readonly Checkpoint[]): Hidden {
  const hidden = new Map<CheckpointId, string>()
  const byPrefix = new Map<string, Checkpoint>()
  for (const checkpoint of checkpoints) {
    const { id, reason } = checkpoint
    const wanted = hideHookReason(checkpoint) ?? hideQuotedReason(checkpoint, byPrefix)
    if (wanted !== undefined && wanted !== reason) hidden.set(id, wanted)
    byPrefix.set(id.slice(0, ID_LETTERS), { ...checkpoint, reason: wanted ?? reason })
  }
  return hidden
}

const FIXED_REASONS: readonly (string | null)[] = ['End of the turn', 'End of the session', null]

/** Undefined if no hook of an agent made the checkpoint. */
function hideHookReason({ reason, session }: Checkpoint): string | undefined {
  const metadata: Readonly<Record<string, unknown>> = Object(session?.metadata)
  const { agent, event, at, calls, tool } = metadata
  if (typeof agent !== 'string' || typeof event !== 'string' || typeof at !== 'string')
    return undefined
  if (FIXED_REASONS.includes(reason)) return undefined
  if (isPromptReason(reason)) return promptReason(HIDDEN_PROMPT)
  if (Array.isArray(calls) && calls.length > 0)
    return callsReason([...new Set(calls.map(parseToolName))])
  return at === 'before-tool' ? `Before ${parseToolName(tool)}` : parseToolName(tool)
}

/** `Bash` for the label `Bash: ls`. */
function parseToolName(label: unknown): string {
  const name = typeof label === 'string' ? /^[^\s:]+/.exec(label)?.[0] : undefined
  return name ?? 'a tool call'
}

const QUOTING = /^([^"]*\b(?:rewind|fork)\b[^"]*)"[^]*" \(([bcdfghjklmnpqrstvwxz]{8})\)$/

/** If the quoted checkpoint is gone, its reason may have been a prompt, so only its id stays. */
function hideQuotedReason(
  { reason }: Checkpoint,
  byPrefix: ReadonlyMap<string, Checkpoint>,
): string | undefined {
  const [, start = '', id] = QUOTING.exec(reason ?? '') ?? []
  if (id === undefined) return undefined
  const target = byPrefix.get(id)
  return start + (target === undefined ? id : nameTarget(target))
}
