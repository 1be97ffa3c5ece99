// Creates the request of a command. The store and the project are opened on first use.
import type { CallOptions, Project, Store } from '../../index.js'
import type { SaveAnswer } from '../../daemon/index.js'
import { AGENT_MARKS, type AgentName } from '../../base/index.js'
import type { Request } from './command.js'
import { isCurrentFolderGone } from '../start/current-folder.js'
import type { Parsed } from '../args/parse.js'

const MB = 1024 * 1024
const MAX_MOVED = 3

export type AgentMark = {
  readonly variable: string
  /** Undefined for an unknown agent. */
  readonly agent: AgentName | undefined
}

/** Detects the agent that started this process: agents set a variable for the commands they run. */
export function agentMark(environment: NodeJS.ProcessEnv): AgentMark | undefined {
  const found = AGENT_MARKS.find(([variable]) => (environment[variable] ?? '') !== '')
  return found === undefined ? undefined : { variable: found[0], agent: found[1] }
}

export type Surroundings = Pick<Request, 'screen' | 'bar' | 'folder'> & {
  readonly agent: AgentMark | undefined
}

export function openRequest(
  parsed: Parsed,
  { screen, bar, folder, agent }: Surroundings,
): Request & { close(): Promise<void> } {
  let opened: Promise<Store> | undefined
  let found: Promise<Project> | undefined
  let noticed = Promise.resolve()
  const store = () => (opened ??= openForCommands(parsed))
  const hooks: CallOptions = {
    onProgress: (progress) => bar.update(progress),
    onWarning: (text) => {
      bar.erase()
      noticed = noticed.then(async () => {
        const { printable } = await import('../terminal/escape.js')
        screen.note(printable(text))
      })
    },
  }
  const find = async () => {
    const project = await findProject(await store(), { folder, hooks })
    await noteOrigin(await project.internals.origin(), hooks)
    return project
  }
  return {
    ...parsed,
    isJson: parsed.options.has('json'),
    isAgent: agent !== undefined,
    screen,
    bar,
    folder,
    hooks,
    argument(index) {
      const text = parsed.positionals[index]
      if (text === undefined) throw new Error(`The table lacks argument ${index}`)
      return text
    },
    store,
    project: () => (found ??= find()),
    async close() {
      await noticed
      // A failure to open the store was reported already.
      const open = await opened?.catch(() => undefined)
      await open?.close()
    },
  }
}

/** The project of the current folder, or the known project whose folder is missing. */
export async function findProject(
  store: Store,
  { folder, hooks }: { readonly folder: string; readonly hooks?: CallOptions },
): Promise<Project> {
  if (folder !== '.') return store.project(folder)
  if (!isCurrentFolderGone()) return store.projectFor('.', hooks)
  const { SavestateError } = await import('../../index.js')
  throw new SavestateError('PROJECT_MISSING', 'The current folder no longer exists', {
    hint: 'Change to another folder, or name one with -C.',
  })
}

/** Tells the user about vanished projects that may have been moved to this folder. */
export async function noteOrigin(
  { maybeMovedFrom }: SaveAnswer['origin'],
  { onWarning }: CallOptions,
): Promise<void> {
  if (maybeMovedFrom.length === 0) return
  const { commandLine } = await import('../terminal/shell-quote.js')
  for (const old of maybeMovedFrom.slice(0, MAX_MOVED)) {
    const command = commandLine(['savestate', 'move', old])
    onWarning?.(`${old} has checkpoints and no longer exists. If it was moved here: ${command}`)
  }
}

async function openForCommands({ command, options, positionals }: Parsed): Promise<Store> {
  const { openStore } = await import('../../index.js')
  const { anyClasses } = await import('./opaque-classes.js')
  const maxFileMb = options.number('max-file-mb')
  const limits = maxFileMb === undefined ? {} : { maxFileBytes: maxFileMb * MB }
  // `run` passes signals on during a save, and the picker answers keys: their event loop must not be blocked.
  const isAwake = command === 'run' || (command === 'rewind' && positionals.length === 0)
  return openStore({
    inProcess: !isAwake,
    shortLived: !isAwake,
    classes: anyClasses,
    limits,
    remote: false,
  })
}
