import { type HookRequest, isTypedCommand } from '../../agents/index.js'
import { AGENT_NAMES, type AgentName } from '../../base/index.js'
import { answerHook, PATIENCE_SECONDS, startForHooks } from '../../daemon/index.js'
import type { Command } from '../runtime/command.js'
import { currentFolder } from '../start/current-folder.js'
import { agentMark } from '../runtime/request.js'
import { hookInput } from '../hook/forward-hook.js'
import { ownStream } from '../terminal/stdio.js'

/**
 * Whether the agent itself has started this hook, and not a script that it runs, whose prompt could be made up. Scripts have
 * the mark of their agent. Claude Code's hooks have it too, but only hooks have the other variable.
 */
function isStartedByProgram(agent: AgentName, environment: NodeJS.ProcessEnv): boolean {
  const mark = agentMark(environment)
  if (mark === undefined) return true
  return agent === 'claude' && mark.agent === agent && hasValue(environment['CLAUDE_PROJECT_DIR'])
}

function hasValue(text: string | undefined): boolean {
  return text !== undefined && text !== ''
}

/** Just under the time limit of the hooks that `savestate install` writes. */
const COMMAND_SECONDS = 25

export const run: Command = async (request) => {
  const { argument, options, store } = request
  const agent = AGENT_NAMES.find((one) => one === argument(0))
  if (agent === undefined) throw new Error('The command table accepts an unknown agent')
  const hook = { agent, eventName: argument(1), strict: options.has('strict') }
  const runCommand: NonNullable<HookRequest['runCommand']> = async (words, project) =>
    (await import('../hook/prompt-command.js')).runPromptCommand(request, { words, project })
  const typed = isStartedByProgram(agent, process.env) ? { runCommand } : {}
  const isCommand = isTypedCommand(agent, {
    eventName: hook.eventName,
    // An error of reading is reported below.
    input: await hookInput().catch(() => undefined),
  })
  const usual = isCommand ? COMMAND_SECONDS : PATIENCE_SECONDS
  const { answer, isLate } = await answerHook({
    hook: { ...hook, cwd: currentFolder(), ...typed },
    patienceSeconds: options.number('patience') ?? usual,
    input: hookInput,
    store,
  })
  for (const name of ['stdout', 'stderr'] as const)
    if (answer[name] !== '')
      await new Promise((resolve) => ownStream(name).write(answer[name], resolve))
  // Give up the work that is still running; the store is always consistent.
  if (isLate) process.exit(answer.exitCode)
  await startForHooks(store, hook)
  return answer.exitCode
}
