// The operations that change files, as a dry run for a plan and for real to carry it out: the same call with the same options.
import type { RestoreOptions, RewindResult } from '../../internal.js'
import type { PlanInput } from '../api.js'
import type { PageContext } from './method.js'
import type { ConversationWay } from './plan-conversation.js'

export type FilesOptions = Required<Pick<RestoreOptions, 'onPlan'>> & {
  readonly dryRun: boolean
  readonly paths?: readonly string[] | undefined
  /** Undefined if the conversation stays as it is. */
  readonly way?: ConversationWay | undefined
}

export async function restoreFiles(
  { store, project: find }: Pick<PageContext, 'store' | 'project'>,
  input: PlanInput,
  { way, paths, ...options }: FilesOptions,
): Promise<RewindResult> {
  const project = await find(input.project)
  if (input.kind === 'undoStep') {
    const { ref, conflict = 'refuse' } = input
    return project.undoSteps([ref], { conflict, ...options })
  }
  if (input.kind !== 'rewind') return project[input.kind](options)
  const { ref, before = false, keepMine = false, hunks } = input
  const limits = { before, keepMine, ...(paths === undefined ? {} : { paths }) }
  if (hunks !== undefined) return project.rewind(ref, { ...limits, ...options, hunks })
  if (way?.type !== 'state') {
    const agent = way?.type === 'agent' ? way.plan.checkpoint : undefined
    const conversation = agent && { agent: agent.agent, session: agent.agentSession }
    return project.rewind(ref, {
      ...limits,
      ...options,
      ...(conversation === undefined ? {} : { conversation }),
    })
  }
  // Files and state in one step.
  const session = await store.session<unknown>(way.session, {
    create: false,
    project,
    lease: !options.dryRun,
  })
  try {
    return await session.rewind(ref, { ...limits, ...options, restore: 'both' })
  } finally {
    await session.close()
  }
}
