import { installer, type TrustPlan, usesHttp } from '../../agents/index.js'
import { command, type Request } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'
import { changeText, shortPath } from '../install/install-text.js'
import {
  type AgentResult,
  chooseAgents,
  closePort,
  closePortIfUnused,
  hasWork,
  type Outcome,
  planAndAsk,
  type Planned,
  resultOf,
} from '../install/install-work.js'
import { outcomeExit, outcomeText } from '../install/install-outcome.js'

export const run = command<Outcome>({
  async call(request) {
    const { planInstallOf, presentAgents } = await installer()
    // First, because hooks without a usable store would only fail.
    const store = await request.store()
    const agents = await chooseAgents(request, async () => presentAgents(process.env))
    const { planned, failed, isWanted, ...rest } = await planAndAsk(request, {
      agents,
      planOf: (one) => planInstallOf(store, one),
      question: 'Make these changes?',
      removed: 'the MCP server',
    })
    // The plan has opened the port.
    if (rest.declined && request.options.has('http') && !(await usesHttp(store)))
      await closePort(store)
    const done: AgentResult[] = []
    const isAfterChanges = planned.some(hasWork)
    await closePortIfUnused(store, async () => {
      for (const one of planned)
        done.push(
          isWanted ? await applyOne(request, one, { isAfterChanges }) : resultOf(one, false),
        )
    })
    return { ...rest, agents: [...done, ...failed] }
  },
  render: (outcome, request) => outcomeText(outcome, { request, done: 'installed' }),
  exitCode: (outcome) => outcomeExit(outcome),
})

async function applyOne(
  request: Request,
  one: Planned,
  { isAfterChanges }: { readonly isAfterChanges: boolean },
): Promise<AgentResult> {
  const { applyChanges, applyInstall, planTrustOf } = await installer()
  const store = await request.store()
  await applyInstall(store, one)
  const result = resultOf(one, true)
  if (one.request.agent !== 'codex') return result
  const trust = await planTrustOf(store, one.request)
  if (trust === undefined) return { ...result, trusted: true }
  const isTrusted = await askForTrust(request, trust, { isAfterChanges })
  if (!isTrusted) return { ...result, trusted: false }
  await applyChanges(store, [trust.change], { type: 'user' })
  return { ...result, trusted: true, isTrustNew: true }
}

/** A separate question: a yes to the hooks does not cover trust. */
async function askForTrust(
  request: Request,
  { change, hooks }: TrustPlan,
  { isAfterChanges }: { readonly isAfterChanges: boolean },
): Promise<boolean> {
  if (request.options.has('trust')) return true
  if (request.options.has('yes') || !process.stdin.isTTY) return false
  return confirmText(request, {
    plan: [
      `Codex runs hooks only if you trust them. These ${hooks} run nothing but Savestate.`,
      `Your answer is recorded in ${shortPath(change.path, process.env)}.`,
    ].join('\n'),
    question: 'Trust them?',
    details: changeText(change, request.screen.paintNote),
    isAfterChanges,
  })
}
