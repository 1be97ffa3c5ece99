// The common part of install and uninstall: chooses the agents, plans the changes, and asks.
import { AGENT_NAMES, type AgentName } from '../../base/index.js'
import { forgetHttpAddress, httpHookAddress, stopDaemon } from '../../daemon/index.js'
import { type FileChange, type InstallRequest, type Plan, usesHttp } from '../../agents/index.js'
import { defaultHome, SavestateError, type Store } from '../../internal.js'
import type { Request } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'
import { diffLines, plansText, summaryText } from './install-text.js'

export type AgentResult = {
  readonly agent: AgentName
  readonly files: readonly {
    readonly path: string
    readonly change: 'make' | 'change' | 'remove'
    readonly diff: readonly string[]
    /** The number of our entries in the file after an install. */
    readonly holds?: NonNullable<FileChange['holds']>
  }[]
  readonly notes: readonly string[]
  readonly applied: boolean
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string | null }
  /** Whether the agent gets or loses the permission to rewind. */
  readonly permission?: 'grant' | 'revoke'
  /** For Codex: whether the hooks are trusted now. */
  readonly trusted?: boolean
  readonly isTrustNew?: boolean
}

export type Outcome = {
  readonly scope: 'user' | 'project'
  readonly declined: boolean
  readonly agents: readonly AgentResult[]
}

export type Planned = { readonly request: InstallRequest; readonly plan: Plan }

type Intent = {
  readonly agents: readonly AgentName[]
  readonly planOf: (one: InstallRequest) => Promise<Plan>
  readonly question: string
  /** The summary's word for the entries that are removed from files. */
  readonly removed: string
}

/** Changes nothing, and asks only if something would change. */
export async function planAndAsk(request: Request, intent: Intent) {
  const { question, removed } = intent
  const { planned, failed } = await planAll(request, intent)
  const scope: Outcome['scope'] = request.options.has('project') ? 'project' : 'user'
  if (request.options.has('dry-run'))
    return { scope, planned, failed, isWanted: false, declined: false }
  const isWanted =
    !planned.some(hasWork) ||
    (await confirmText(request, {
      plan: summaryText(planned, { removed }),
      question,
      details: plansText(planned, request.screen.paintNote),
    }))
  return { scope, planned, failed, isWanted, declined: !isWanted }
}

const OF_ONE_AGENT = ['CONFIG_INVALID', 'FILE_FAILED']

/** With --all, a broken configuration of one agent does not stop the others. */
async function planAll(request: Request, { agents, planOf }: Intent) {
  const planned: Planned[] = []
  const failed: AgentResult[] = []
  for (const agent of agents) {
    const one = await requestFor(request, agent)
    try {
      planned.push({ request: one, plan: await planOf(one) })
    } catch (error) {
      const isOne = !request.options.has('all')
      if (isOne || !(error instanceof SavestateError) || !OF_ONE_AGENT.includes(error.code))
        throw error
      failed.push({ agent, files: [], notes: [], applied: false, error: error.toJSON() })
    }
  }
  return { planned, failed }
}

/** False if nothing would change. */
export function hasWork({ plan }: Planned): boolean {
  return plan.changes.length > 0 || plan.permission !== undefined
}

export function resultOf({ request, plan }: Planned, applied: boolean): AgentResult {
  const files = plan.changes.map(
    ({ path, before, after, holds }) =>
      ({
        path,
        ...(holds === undefined ? {} : { holds }),
        change: before === undefined ? 'make' : after === undefined ? 'remove' : 'change',
        diff: after === undefined ? [] : diffLines(before ?? '', after),
      }) as const,
  )
  const { notes, permission } = plan
  const granted = permission === undefined ? {} : { permission }
  return { agent: request.agent, files, notes, applied, ...granted }
}

/** The named agent, or with --all the given ones. */
export async function chooseAgents(
  request: Request,
  all: () => Promise<readonly AgentName[]>,
): Promise<readonly AgentName[]> {
  const named = AGENT_NAMES.find((name) => name === request.positionals[0])
  const isAll = request.options.has('all')
  if (named !== undefined && !isAll) return [named]
  if (named === undefined && isAll) return all()
  throw new SavestateError('BAD_INPUT', 'Name an agent, or use --all', {
    hint: `The agents are ${AGENT_NAMES.join(', ')}.`,
  })
}

async function requestFor(request: Request, agent: AgentName): Promise<InstallRequest> {
  const { options } = request
  return {
    agent,
    scope: options.has('project')
      ? { type: 'project', root: (await request.project()).path }
      : { type: 'user' },
    environment: process.env,
    programPath: process.argv[1] ?? 'savestate',
    nodePath: process.execPath,
    // Also if the store cannot be opened.
    storeHome: (await usableStore(request))?.home ?? defaultHome(),
    strict: options.has('strict'),
    mcp: options.has('mcp'),
    allowRewind: options.has('allow-agent-rewind'),
    ...(await httpDaemon(request, agent)),
  }
}

async function httpDaemon(
  request: Request,
  agent: AgentName,
): Promise<Pick<InstallRequest, 'daemon'>> {
  if (!request.options.has('http')) return {}
  if (agent !== 'claude') {
    if (request.options.has('all')) return {}
    throw new SavestateError('BAD_INPUT', `${agent} has no HTTP hooks`, {
      hint: 'Leave --http out.',
    })
  }
  const isDryRun = request.options.has('dry-run')
  return { daemon: await httpHookAddress(await request.store(), { isDryRun }) }
}

/** Runs the work, then closes the daemon's TCP port if no hooks use it any more. */
export async function closePortIfUnused(
  store: Store | undefined,
  work: () => Promise<void>,
): Promise<void> {
  const wasUsed = store !== undefined && (await usesHttp(store))
  await work()
  if (wasUsed && !(await usesHttp(store))) await closePort(store)
}

/** Stops the daemon and removes its token. The next hook starts a daemon without a port. */
export async function closePort({ home }: Store): Promise<void> {
  // First, so that the token becomes invalid even if the daemon does not answer.
  forgetHttpAddress(home)
  await stopDaemon()
}

/** Undefined if the store cannot be opened: hooks can be removed without it. */
export async function usableStore(request: Request): Promise<Store | undefined> {
  try {
    return await request.store()
  } catch (error) {
    if (error instanceof SavestateError) return undefined
    throw error
  }
}
