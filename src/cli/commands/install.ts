// `savestate install` and `savestate uninstall`: choose the agents, plan the changes, ask, and apply them.
import { installer, type InstallRequest, usesHttp } from '../../agents/index.js'
import { AGENT_NAMES, type AgentName } from '../../base/index.js'
import { forgetHttpAddress, httpHookAddress, stopDaemon } from '../../daemon/index.js'
import { defaultHome, SavestateError, type Store } from '../../internal.js'
import {
  type AgentResult,
  type Outcome,
  outcomeExit,
  outcomeText,
  resultOf,
} from '../install/install-outcome.js'
import {
  changeText,
  type Planned,
  plansText,
  shortPath,
  summaryText,
} from '../install/install-text.js'
import { command, type Request } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'

export const run = command<Outcome>({
  async call(request) {
    const { options, screen } = request
    const isInstall = request.command === 'install'
    // Hooks without a usable store would only fail, but can be removed without it.
    const store = isInstall ? await request.store() : await usableStore(request)
    const usedHttp = store !== undefined && (await usesHttp(store))
    const { planned, failed } = await planAll(request, store)
    const isDryRun = options.has('dry-run')
    const hasWork = planned.some(
      ({ plan }) => plan.changes.length > 0 || plan.permission !== undefined,
    )
    const isWanted =
      !isDryRun &&
      (!hasWork ||
        (await confirmText(request, {
          plan: summaryText(planned, isInstall ? 'the MCP server' : 'hooks'),
          question: isInstall ? 'Make these changes?' : 'Remove them?',
          details: plansText(planned, screen.paintNote),
        })))
    const done: AgentResult[] = []
    for (const one of planned)
      done.push(isWanted ? await apply(request, one, { hasWork }) : resultOf(one, false))
    // The plan of an install with --http opens the port of the daemon.
    const mayBeOpen = !isDryRun && (usedHttp || options.has('http'))
    if (store !== undefined && mayBeOpen && !(await usesHttp(store))) await closePort(store)
    return {
      scope: options.has('project') ? 'project' : 'user',
      declined: !isWanted && !isDryRun,
      agents: [...done, ...failed],
    }
  },
  render(outcome, request) {
    const { command: name, options } = request
    const text = outcomeText(outcome, request)
    const isAll = name === 'uninstall' && options.has('all') && outcome.scope === 'user'
    if (!isAll || outcome.declined || options.has('dry-run')) return text
    return [
      text,
      `Your checkpoints remain in ${shortPath(defaultHome(), process.env)}. To remove them: savestate clear --all`,
      'To remove the program: npm rm -g savestate',
    ].join('\n')
  },
  exitCode: outcomeExit,
})

const OF_ONE_AGENT = ['CONFIG_INVALID', 'FILE_FAILED']

/** With --all, a broken configuration of one agent does not stop the others. */
async function planAll(request: Request, store: Store | undefined) {
  const { planInstallOf, planUninstallOf } = await installer()
  const isInstall = request.command === 'install'
  const planned: Planned[] = []
  const failed: AgentResult[] = []
  for (const agent of await chooseAgents(request)) {
    const one = await requestFor(request, { agent, store })
    try {
      const plan = isInstall
        ? await planInstallOf(await request.store(), one)
        : await planUninstallOf(store, one)
      planned.push({ request: one, plan })
    } catch (error) {
      const isOne = !request.options.has('all')
      if (isOne || !(error instanceof SavestateError) || !OF_ONE_AGENT.includes(error.code))
        throw error
      failed.push({ agent, files: [], notes: [], applied: false, error: error.toJSON() })
    }
  }
  return { planned, failed }
}

/** With --all, those that are on this machine, or for an uninstall all that we know. */
async function chooseAgents({
  command: name,
  positionals,
  options,
}: Request): Promise<readonly AgentName[]> {
  const named = AGENT_NAMES.find((agent) => agent === positionals[0])
  const isAll = options.has('all')
  if (named !== undefined && !isAll) return [named]
  if (named === undefined && isAll)
    return name === 'install' ? (await installer()).presentAgents(process.env) : AGENT_NAMES
  throw new SavestateError('BAD_INPUT', 'Name an agent, or use --all', {
    hint: `The agents are ${AGENT_NAMES.join(', ')}.`,
  })
}

async function requestFor(
  request: Request,
  { agent, store }: { readonly agent: AgentName; readonly store: Store | undefined },
): Promise<InstallRequest> {
  const { options } = request
  const hasHttp = options.has('http') && agent === 'claude'
  if (options.has('http') && !hasHttp && !options.has('all'))
    throw new SavestateError('BAD_INPUT', `${agent} has no HTTP hooks`, {
      hint: 'Leave --http out.',
    })
  const isDryRun = options.has('dry-run')
  return {
    agent,
    scope: options.has('project')
      ? { type: 'project', root: (await request.project()).path }
      : { type: 'user' },
    environment: process.env,
    programPath: process.argv[1] ?? 'savestate',
    nodePath: process.execPath,
    storeHome: store?.home ?? defaultHome(),
    strict: options.has('strict'),
    mcp: options.has('mcp'),
    allowRewind: options.has('allow-agent-rewind'),
    ...(hasHttp ? { daemon: await httpHookAddress(await request.store(), { isDryRun }) } : {}),
  }
}

async function apply(
  request: Request,
  one: Planned,
  { hasWork }: { readonly hasWork: boolean },
): Promise<AgentResult> {
  const { applyChanges, applyInstall, applyUninstall, planTrustOf } = await installer()
  const result = resultOf(one, true)
  if (request.command === 'uninstall') {
    await applyUninstall(await usableStore(request), one)
    return result
  }
  const store = await request.store()
  await applyInstall(store, one)
  if (one.request.agent !== 'codex') return result
  const trust = await planTrustOf(store, one.request)
  if (trust === undefined) return { ...result, trusted: true }
  const { change, hooks } = trust
  const mayAsk = !request.options.has('yes') && process.stdin.isTTY
  // A separate question: a yes to the hooks does not cover trust.
  const isTrusted =
    request.options.has('trust') ||
    (mayAsk &&
      (await confirmText(request, {
        plan: [
          `Codex runs hooks only if you trust them. These ${hooks} run nothing but Savestate.`,
          `Your answer is recorded in ${shortPath(change.path, process.env)}.`,
        ].join('\n'),
        question: 'Trust them?',
        details: changeText(change, request.screen.paintNote),
        isAfterChanges: hasWork,
      })))
  if (!isTrusted) return { ...result, trusted: false }
  await applyChanges(store, [change], { type: 'user' })
  return { ...result, trusted: true, isTrustNew: true }
}

/** Stops the daemon and removes its token. The next hook starts a daemon without a port. */
async function closePort({ home }: Store): Promise<void> {
  // First, so that the token becomes invalid even if the daemon does not answer.
  forgetHttpAddress(home)
  await stopDaemon()
}

/** Undefined if the store cannot be opened. */
async function usableStore(request: Request): Promise<Store | undefined> {
  try {
    return await request.store()
  } catch (error) {
    if (error instanceof SavestateError) return undefined
    throw error
  }
}
