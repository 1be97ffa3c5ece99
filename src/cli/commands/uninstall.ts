import { AGENT_NAMES, installer } from '../../adapters/index.js'
import { command } from '../command.js'
import { confirmText } from '../confirm.js'
import { outcomeExit, outcomeText } from '../install-outcome.js'
import { changesText } from '../install-text.js'
import { chosenAgents, type Outcome, planAll, resultOf, usableStore } from '../install-work.js'

export const run = command<Outcome>({
  async call(request) {
    const { applyChanges, planUninstallOf } = await installer()
    const store = await usableStore(request)
    const agents = await chosenAgents(request, async () => AGENT_NAMES)
    const { planned, failed } = await planAll(request, {
      agents,
      planOf: (one) => planUninstallOf(store, one),
    })
    const scope = request.options.has('project') ? 'project' : 'user'
    const changes = planned.flatMap(({ plan }) => plan.changes)
    const isDry = request.options.has('dry-run')
    const isWanted =
      isDry || changes.length === 0
        ? !isDry
        : await confirmText(request, {
            plan: changesText(changes, request.screen.paintNote),
            question: 'Take it out?',
          })
    if (isWanted) {
      for (const { request: one, plan } of planned)
        await applyChanges(store, plan.changes, one.scope)
    }
    const done = planned.map((one) => resultOf(one, isWanted))
    return { scope, declined: !isWanted && !isDry, agents: [...done, ...failed] }
  },
  render: (outcome, request) => outcomeText(outcome, { request, done: 'uninstalled' }),
  exitCode: (outcome) => outcomeExit(outcome),
})
