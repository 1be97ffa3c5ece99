// `daemon run`: the process that stays. It carries out commands for others with the code that they would run themselves.
import {
  type CommandCall,
  type CommandRun,
  type Daemon,
  loadDaemon,
  type WatchedProjects,
} from '../http/index.js'
import { openStore, type Store, takeDaemonPlace } from '../index.js'
import { anyClasses } from './any-classes.js'
import { EXIT } from './exit.js'
import { runCommand } from './main.js'
import { parse } from './parse.js'
import { progressBar } from './progress-bar.js'
import { openScreen } from './screen.js'
import { isServed, looksAtFolder } from './served.js'
import { build, version } from './version.js'

/** Another process is the daemon. */
export const TAKEN = 3

/** Returns when it has ended. */
export async function runDaemon(): Promise<number> {
  const place = await takeDaemonPlace()
  if (place === undefined) return TAKEN
  const { failureLog, startDaemon } = await loadDaemon()
  const log = failureLog(place)
  let store: Store
  try {
    // Without keys, whatever is in the environment: who has one does the work.
    store = await openStore({ home: place.home, classes: anyClasses, encryption: {} })
  } catch (error) {
    place.release()
    throw error
  }
  const runner = (projects: WatchedProjects) => async (call: CommandCall) =>
    commandRun(call, { store, projects })
  const daemon = await startDaemon({
    place,
    store,
    log,
    runner,
    build: build(),
    version: version(),
  })
  endOnSignals(daemon)
  process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => {
    log(error)
    process.exit(EXIT.bug)
  })
  await daemon.ended
  return EXIT.done
}

/** The first signal lets it finish, a second one ends it at once: the store is whole at every moment. */
function endOnSignals(daemon: Daemon): void {
  for (const [signal, code] of [
    ['SIGINT', EXIT.interrupted],
    ['SIGTERM', EXIT.ended],
    ['SIGHUP', EXIT.ended],
  ] as const) {
    process.removeAllListeners(signal).once(signal, () => {
      process.on(signal, () => process.exit(code))
      void daemon.stop()
    })
  }
}

function commandRun(
  { argv, folder, env, ...streams }: CommandCall,
  { store, projects }: { readonly store: Store; readonly projects: WatchedProjects },
): CommandRun | undefined {
  const parsed = parse(argv)
  if (!isServed(parsed, { isTerminal: streams.stdout.isTTY, folder })) return undefined
  return ({ out, err }) => {
    const terminal = {
      stdout: { ...streams.stdout, write: out },
      stderr: { ...streams.stderr, write: err },
      env,
    }
    return runCommand(parsed, {
      screen: openScreen(terminal),
      bar: progressBar(terminal),
      folder,
      store: async () => store,
      async project(_store, wanted) {
        const found = await ('at' in wanted
          ? store.project(wanted.at)
          : store.projectFor(wanted.for))
        return looksAtFolder(parsed.command) ? projects.watch(found) : found
      },
      // It stays open for the next one.
      close: async () => undefined,
    })
  }
}
