import { AGENT_NAMES } from '../../base/index.js'
import { installer } from '../../agents/index.js'
import { command } from '../runtime/command.js'
import { defaultHome } from '../../internal.js'
import { shortPath } from '../install/install-text.js'
import { outcomeExit, outcomeText } from '../install/install-outcome.js'
import {
  chooseAgents,
  closePortIfUnused,
  type Outcome,
  planAndAsk,
  resultOf,
  usableStore,
} from '../install/install-work.js'

export const run = command<Outcome>({
  async call(request) {
    const { applyUninstall, planUninstallOf } = await installer()
    const store = await usableStore(request)
    const agents = await chooseAgents(request, async () => AGENT_NAMES)
    const { planned, failed, isWanted, ...rest } = await planAndAsk(request, {
      agents,
      planOf: (one) => planUninstallOf(store, one),
      question: 'Remove them?',
      removed: 'hooks',
    })
    if (isWanted) {
      await closePortIfUnused(store, async () => {
        for (const one of planned) await applyUninstall(store, one)
      })
    }
    const done = planned.map((one) => resultOf(one, isWanted))
    return { ...rest, agents: [...done, ...failed] }
  },
  render(outcome, request) {
    const text = outcomeText(outcome, { request, done: 'uninstalled' })
    const isAll = request.options.has('all') && outcome.scope === 'user'
    if (!isAll || outcome.declined || request.options.has('dry-run')) return text
    return [
      text,
      `Your checkpoints remain in ${shortPath(defaultHome(), process.env)}. To remove them: savestate clear --all`,
      'To remove the program: npm rm -g savestate',
    ].join('\n')
  },
  exitCode: (outcome) => outcomeExit(outcome),
})
