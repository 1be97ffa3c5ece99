// Yarn's Plug'n'Play replaces node:fs in every process below one that yarn has started, and what it puts there loses the bytes
// of links that are no text. Started below it by chance, as a hook of an agent is, the program starts again without it.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Beside this file, once it is built. */
const PROGRAM = './bin.js'
const ITS_OPTIONS =
  /(?:--(?:require|experimental-loader|loader|import)|-r)[ =](?:"[^"]*\.pnp\.[^"]*"|\S*\.pnp\.\S*)/g
/** What the new process is called, so that it starts no other: if that has it too, something else than these options loads it. */
const STARTED_AGAIN = 'savestate'

/** The exit code of the program that ran in its place; undefined if it is to run itself. */
export function startedWithoutPnp(): number | undefined {
  // What Plug'n'Play has installed is found by it alone. Then the folder is refused, with a sentence.
  if (process.versions['pnp'] === undefined || process.argv0 === STARTED_AGAIN) return undefined
  const file = fileURLToPath(new URL(PROGRAM, import.meta.url))
  if (!hasDriver(dirname(file))) return undefined
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const NODE_OPTIONS = (process.env['NODE_OPTIONS'] ?? '').replace(ITS_OPTIONS, '').trim()
  const { status, signal, error } = spawnSync(process.execPath, [file, ...process.argv.slice(2)], {
    argv0: STARTED_AGAIN,
    stdio: 'inherit',
    env: { ...process.env, NODE_OPTIONS },
  })
  if (error !== undefined) throw error
  if (signal !== null) process.kill(process.pid, signal)
  return status ?? 1
}

/** As the driver is looked for later, by code that is not worth loading for this. */
function hasDriver(folder: string): boolean {
  if (existsSync(join(folder, 'node_modules', '@photostructure', 'sqlite'))) return true
  return dirname(folder) !== folder && hasDriver(dirname(folder))
}
