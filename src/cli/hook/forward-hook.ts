// Lets the daemon answer a hook. Every start of the program loads this, so it loads only the client of the daemon.
import { fieldsOf } from '../../base/index.js'
import { askDaemon, MAX_INPUT_BYTES } from '../../daemon/index.js'
import { currentFolder } from '../start/current-folder.js'
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
  const answer = fieldsOf((await askDaemon({ request, input: hookInput }))?.['answer'])
  const { exitCode } = answer
  if (typeof exitCode !== 'number') return undefined
  const terminal = ownTerminal(onOutputFault)
  for (const name of ['stdout', 'stderr'] as const) {
    const text = answer[name]
    if (typeof text === 'string' && text !== '') terminal[name].write(text)
  }
  return exitCode
}

let read: Promise<string | undefined> | undefined

/**
 * The event of an agent from stdin, read once: for the daemon, and again if this process must handle the event. Undefined
 * if the input is larger than any event.
 */
export function hookInput(): Promise<string | undefined> {
  return (read ??= readInput())
}

function readInput(): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const { stdin } = process
    const parts: Buffer[] = []
    let sizeBytes = 0
    stdin.on('data', (part) => {
      const bytes = Buffer.from(part)
      sizeBytes += bytes.length
      if (sizeBytes <= MAX_INPUT_BYTES) parts.push(bytes)
      else {
        stdin.destroy()
        resolve(undefined)
      }
    })
    stdin.on('end', () => resolve(Buffer.concat(parts).toString('utf8')))
    stdin.on('error', reject)
  })
}
