// Starts the command line. Each command loads only what it needs.
import { version } from '../../base/index.js'
import { useCompileCache } from './compile-cache.js'
import { forwardHook } from '../hook/forward-hook.js'
import { makePrivate } from './umask.js'
import { ownTerminal } from '../terminal/stdio.js'

// The store is 0700 and its files 0600 with any umask; restored files get their own modes.
makePrivate()

const words = process.argv.slice(2)
const [first, ...others] = words.filter((word) => word !== '--json')
if ((first === '--version' || first === '-V') && others.length === 0) {
  const isJson = words.length > 1
  const text = isJson ? JSON.stringify({ version: version() }, null, 2) : version()
  ownTerminal((error) => void reportOutput(error)).stdout.write(`${text}\n`)
} else {
  void start()
}

async function start(): Promise<void> {
  const code = await forwardHook(words, (error) => void reportOutput(error))
  if (code !== undefined) {
    process.exitCode = code
    return
  }
  useCompileCache()
  await (await import('./main.js')).main()
}

async function reportOutput(error: unknown): Promise<void> {
  await (await import('./main.js')).reportOutput(error)
}
