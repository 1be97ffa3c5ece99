// `daemon run`: the process that stays. It carries out commands for others with the code that they would run themselves.
import {
  type CommandCall,
  type CommandRun,
  type Daemon,
  type HookCall,
  loadDaemon,
  type Served,
  type WatchedProjects,
} from '../daemon/index.js'
import { type HookRequest, QuietMoments, usesHttp } from '../adapters/index.js'
import { openStore, type Store, takeDaemonPlace } from '../index.js'
import { AGENTS } from './agent-commands.js'
import { anyClasses } from './any-classes.js'
import { EXIT } from './exit.js'
import { runCommand } from './main.js'
import { hookAnswer, hookAsked, PATIENCE_SECONDS } from './hook-work.js'
import { type Parsed, parse } from './parse.js'
import { progressBar } from './progress-bar.js'
import { openScreen } from './screen.js'
import { isServed } from './served.js'
import { build, version } from './version.js'

/** Another process is the daemon. */
export const TAKEN = 3

/** Returns when it has ended. With `http`, or if hooks of an agent need it, it opens a TCP port too. */
export async function runDaemon({ http }: { readonly http: boolean }): Promise<number> {
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
  const daemon = await startDaemon({
    place,
    store,
    log,
    http: http || (await usesHttp(store)),
    serve: (projects) => served({ store, projects }),
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

type Around = {
  readonly store: Store
  readonly projects: WatchedProjects
  readonly onProject: NonNullable<HookRequest['onProject']>
}

function served({ store, projects }: Omit<Around, 'onProject'>): Served {
  const quiet = new QuietMoments(store)
  const onProject: Around['onProject'] = (project, event) =>
    quiet.heard(projects.watch(project), event)
  const around = { store, projects, onProject }
  return {
    run: async (call) => commandRun(call, around),
    hook: (call) => hookRun(call, around),
    atQuiet: () => quiet.due(),
  }
}

/** Over HTTP there is nobody to read stderr: what would stand there is in the status of the store. */
async function hookRun(
  { agent: name, eventName, input }: HookCall,
  { store, onProject }: Around,
): Promise<string | undefined> {
  const agent = AGENTS.find((one) => one === name)
  if (agent === undefined) return undefined
  const { answer } = await hookAnswer({
    hook: { agent, eventName, onProject },
    patienceSeconds: PATIENCE_SECONDS,
    input: async () => input,
    store: async () => store,
  })
  return answer.stdout
}

function hookCommand(parsed: Parsed, folder: string, { store, onProject }: Around): CommandRun {
  const { hook, patienceSeconds } = hookAsked(parsed)
  return async ({ input, out, err }) => {
    const { answer } = await hookAnswer({
      hook: { ...hook, cwd: folder, onProject },
      patienceSeconds,
      input: async () => input,
      store: async () => store,
    })
    out(answer.stdout)
    err(answer.stderr)
    return answer.exitCode
  }
}

function commandRun(
  { argv, folder, env, ...streams }: CommandCall,
  around: Around,
): CommandRun | undefined {
  const { store, projects } = around
  const parsed = parse(argv)
  if (!isServed(parsed, { folder })) return undefined
  if (parsed.command === 'hook') return hookCommand(parsed, folder, around)
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
      async project(_store, wanted, hooks) {
        const found = await ('at' in wanted
          ? store.project(wanted.at)
          : store.projectFor(wanted.for, hooks))
        return parsed.command === 'save' ? projects.watch(found) : found
      },
      // It stays open for the next one.
      close: async () => undefined,
    })
  }
}
