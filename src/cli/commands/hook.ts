import { AGENT_NAMES } from '../../base/index.js'
import { answerHook, PATIENCE_SECONDS, startForHooks } from '../../daemon/index.js'
import type { Command } from '../runtime/command.js'
import { currentFolder } from '../start/current-folder.js'
import { hookInput } from '../hook/read-stdin-event.js'
import { ownStream } from '../terminal/stdio.js'

export const run: Command = async (request) => {
  const { argument, options, store } = request
  const agent = AGENT_NAMES.find((one) => one === argument(0))
  if (agent === undefined) throw new Error('The command table accepts an unknown agent')
  const hook = { agent, eventName: argument(1), strict: options.has('strict') }
  const { answer, isLate } = await answerHook({
    hook: { ...hook, cwd: currentFolder() },
    patienceSeconds: options.number('patience') ?? PATIENCE_SECONDS,
    input: hookInput,
    store,
  })
  await write('stdout', answer.stdout)
  await write('stderr', answer.stderr)
  // Give up the work that is still running; the store is always consistent.
  if (isLate) process.exit(answer.exitCode)
  await startForHooks(store, hook)
  return answer.exitCode
}

function write(name: 'stdout' | 'stderr', text: string): Promise<void> {
  return new Promise((resolve) => {
    if (text === '') resolve()
    else ownStream(name).write(text, () => resolve())
  })
}
