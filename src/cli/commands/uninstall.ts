import { AGENT_NAMES, installer } from '../../adapters/index.js'
import { command } from '../command.js'
import { outcomeExit, outcomeText } from '../install-outcome.js'
import { chosenAgents, type Outcome, planAndAsk, resultOf, usableStore } from '../install-work.js'

export const run = command<Outcome>({
  async call(request) {
    const { applyUninstall, planUninstallOf } = await installer()
    const store = await usableStore(request)
    const agents = await chosenAgents(request, async () => AGENT_NAMES)
    const { planned, failed, isWanted, ...rest } = await planAndAsk(request, {
      agents,
      planOf: (one) => planUninstallOf(store, one),
      question: 'Take it out?',
    })
    if (isWanted) {
      for (const one of planned) await applyUninstall(store, one)
    }
    const done = planned.map((one) => resultOf(one, isWanted))
    return { ...rest, agents: [...done, ...failed] }
  },
  render: (outcome, request) => outcomeText(outcome, { request, done: 'uninstalled' }),
  exitCode: (outcome) => outcomeExit(outcome),
})
