import type { Answer } from '../../adapters/index.js'
import type { Command } from '../command.js'
import { startForHooks } from '../daemon-for-hooks.js'
import { currentFolder } from '../home-path.js'
import { hookInput } from '../hook-input.js'
import { hookAnswer, hookAsked } from '../hook-work.js'
import { ownStream } from '../outputs.js'

export const run: Command = async (request) => {
  const { hook, patienceSeconds } = hookAsked(request)
  const { answer, isLate } = await hookAnswer({
    hook: { ...hook, cwd: currentFolder() },
    patienceSeconds,
    input: hookInput,
    store: request.store,
  })
  const exitCode = await told(answer)
  // What is still under way is given up; the store is whole at every moment.
  if (isLate) process.exit(exitCode)
  await startForHooks(request, hook)
  return exitCode
}

async function told({ stdout, stderr, exitCode }: Answer): Promise<number> {
  await written('stdout', stdout)
  await written('stderr', stderr)
  return exitCode
}

function written(name: 'stdout' | 'stderr', text: string): Promise<void> {
  return new Promise((resolve) => {
    if (text === '') resolve()
    else ownStream(name).write(text, () => resolve())
  })
}
