// Lets the daemon answer a hook. Every start of the program loads this, so it loads only the client of the daemon.
import { askDaemon } from '../../daemon/index.js'
import { currentFolder } from '../start/current-folder.js'
import { hookInput } from './read-stdin-event.js'
import { ownTerminal } from '../terminal/stdio.js'

/** Returns the exit code; undefined if no daemon answered, or for any other command. */
export async function forwardHook(
  words: readonly string[],
  onOutputFault: (error: unknown) => void,
): Promise<number | undefined> {
  const [command, agent, eventName, ...rest] = words
  const strict = rest[0] === '--strict'
  // Only the form that `savestate install` writes. Any other form is handled in this process.
  if (command !== 'hook' || rest.length > (strict ? 1 : 0)) return undefined
  const folder = currentFolder()
  if (agent === undefined || eventName === undefined || folder === undefined) return undefined
  const request = { do: 'hook', agent, eventName, strict, folder } as const
  const answer = new Map<string, unknown>(
    Object.entries((await askDaemon({ request, input: hookInput }))?.['answer'] ?? {}),
  )
  const exitCode = answer.get('exitCode')
  if (typeof exitCode !== 'number') return undefined
  const { stdout, stderr } = ownTerminal(onOutputFault)
  for (const [stream, text] of [
    [stdout, answer.get('stdout')],
    [stderr, answer.get('stderr')],
  ] as const)
    if (typeof text === 'string' && text !== '') stream.write(text)
  return exitCode
}
