import { installer, type TrustPlan, usesHttp } from '../../adapters/index.js'
import { command, type Request } from '../command.js'
import { confirmText } from '../confirm.js'
import { changeText, shortPath } from '../install-text.js'
import {
  type AgentResult,
  chosenAgents,
  type Outcome,
  planAndAsk,
  type Planned,
  resultOf,
} from '../install-work.js'
import { outcomeExit, outcomeText } from '../install-outcome.js'

export const run = command<Outcome>({
  async call(request) {
    const { planInstallOf, presentAgents } = await installer()
    // Before anything is planned: hooks without a store would only fail.
    const store = await request.store()
    const agents = await chosenAgents(request, async () => presentAgents(process.env))
    const { planned, failed, isWanted, ...rest } = await planAndAsk(request, {
      agents,
      planOf: (one) => planInstallOf(store, one),
      question: 'Make these changes?',
      removed: 'the MCP server',
    })
    // Planning such hooks has opened the port.
    if (rest.declined && request.options.has('http') && !(await usesHttp(store)))
      await (await import('../stop-daemon.js')).stopDaemon()
    const done: AgentResult[] = []
    for (const one of planned) done.push(await applied(request, one, isWanted))
    return { ...rest, agents: [...done, ...failed] }
  },
  render: (outcome, request) => outcomeText(outcome, { request, done: 'installed' }),
  exitCode: (outcome) => outcomeExit(outcome),
})

async function applied(request: Request, one: Planned, isWanted: boolean): Promise<AgentResult> {
  if (!isWanted) return resultOf(one, false)
  const { applyChanges, applyInstall, planTrustOf } = await installer()
  const store = await request.store()
  await applyInstall(store, one)
  const result = resultOf(one, true)
  if (one.request.agent !== 'codex') return result
  const trust = await planTrustOf(store, one.request)
  if (trust === undefined) return { ...result, trusted: true }
  const trusted = await isTrusted(request, trust)
  if (trusted) await applyChanges(store, [trust.change], { type: 'user' })
  return { ...result, trusted }
}

/** A question of its own: a yes to the hooks is no yes to this. */
async function isTrusted(request: Request, { change, hooks }: TrustPlan): Promise<boolean> {
  if (request.options.has('trust')) return true
  if (request.options.has('yes') || !process.stdin.isTTY) return false
  return confirmText(request, {
    plan: [
      `Codex runs hooks only if you trust them. These ${hooks} run nothing but Savestate.`,
      `Your answer is recorded in ${shortPath(change.path, process.env)}.`,
    ].join('\n'),
    question: 'Trust them?',
    details: changeText(change, request.screen.paintNote),
    isAfterChanges: true,
  })
}
