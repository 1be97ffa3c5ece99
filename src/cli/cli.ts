// Starts the command line. Each command loads only what it needs.
import { useCompileCache } from './compile-cache.js'
import { forward } from './forward.js'
import { makePrivate } from './given-umask.js'
import { ownTerminal } from './outputs.js'
import { version } from './version.js'

// The store is 0700 and its files 0600 whatever the shell says; what is restored gets its own modes.
makePrivate()

const words = process.argv.slice(2)
const [first, ...others] = words.filter((word) => word !== '--json')
if ((first === '--version' || first === '-V') && others.length === 0) {
  const isJson = words.length > 1
  const text = isJson ? JSON.stringify({ version: version() }, null, 2) : version()
  ownTerminal((error) => void tellUnwritten(error)).stdout.write(`${text}\n`)
} else {
  void start()
}

async function tellUnwritten(error: unknown): Promise<void> {
  const { reportOutput } = await import('./forward-faults.js')
  await reportOutput(error, { isJson: words.includes('--json') })
}

async function start(): Promise<void> {
  const code = await forward(words)
  if (code !== undefined) {
    process.exitCode = code
    return
  }
  useCompileCache()
  await (await import('./main.js')).main()
}
