// Gives a command what it may use, each thing made when it is first asked for.
import { hasCode } from '../base/index.js'
import type { Hooks, Project, Store } from '../index.js'
import { type AgentMark, agentMark } from './agent-mark.js'
import type { Request } from './command.js'
import type { Parsed } from './parse.js'
import type { ProgressBar } from './progress-bar.js'
import type { Screen } from './screen.js'

const MB = 1024 * 1024

export type OpenRequest = Request & { close(): Promise<void> }

/** Where a command is carried out: in a process of its own, or in the daemon for somebody else. */
export type Surroundings = {
  readonly screen: Screen
  readonly bar: ProgressBar
  /** Where the person is: `.` in a process of its own. */
  readonly folder: string
  /** Of the agent that has started this process. */
  readonly agent?: AgentMark | undefined
  /** Opened once, by who is asked first. */
  readonly store: () => Promise<Store>
  /** The project of exactly this folder, or the one that this folder belongs to. */
  readonly project: (
    store: Store,
    wanted: { readonly at: string } | { readonly for: string },
    hooks: Hooks,
  ) => Promise<Project>
  readonly close: () => Promise<void>
}

/** For a command that has the process for itself. */
export function ownSurroundings(
  parsed: Parsed,
  { screen, bar }: Pick<Surroundings, 'screen' | 'bar'>,
): Surroundings {
  let opened: Promise<Store> | undefined
  return {
    screen,
    bar,
    folder: '.',
    agent: agentMark(process.env),
    store: () => (opened ??= openForCommands(parsed)),
    project: async (store, wanted, hooks) =>
      'at' in wanted ? store.project(wanted.at) : store.projectFor(await currentFolder(), hooks),
    async close() {
      // A store that could not be opened has been reported as such.
      const open = await opened?.catch(() => undefined)
      await open?.close()
    },
  }
}

export function openRequest(parsed: Parsed, around: Surroundings): OpenRequest {
  const { screen, bar, folder, store } = around
  let found: Promise<Project> | undefined
  let noticed = Promise.resolve()
  const hooks: Hooks = {
    onProgress: (progress) => bar.update(progress),
    onNotice: (text) => {
      bar.erase()
      noticed = noticed.then(async () => {
        const { printable } = await import('./printable.js')
        screen.note(printable(text))
      })
    },
  }
  const find = async () => {
    const given = parsed.options.text('C')
    const wanted = given === undefined ? { for: folder } : { at: from(folder, given) }
    const project = await around.project(await store(), wanted, hooks)
    await noteOrigin(project, hooks)
    return project
  }
  return {
    ...parsed,
    isJson: parsed.options.has('json'),
    isAgent: around.agent !== undefined,
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
      await around.close()
    },
  }
}

/** For a folder without checkpoints of its own: where they may be. */
async function noteOrigin(project: Project, { onNotice }: Hooks): Promise<void> {
  const { partOf, maybeMovedFrom } = await project.origin()
  if (partOf === null && maybeMovedFrom.length === 0) return
  const { commandLine } = await import('./shell-quoted.js')
  if (partOf !== null) {
    const command = commandLine(['savestate', '-C', partOf, 'list'])
    onNotice?.(`This folder is saved as part of ${partOf}: ${command}`)
  }
  for (const old of maybeMovedFrom.slice(0, MAX_MOVED)) {
    const command = commandLine(['savestate', 'move', old])
    onNotice?.(`${old} has checkpoints and no longer exists. If it was moved here: ${command}`)
  }
}

const MAX_MOVED = 3

/** As typed, where the system itself counts from the current folder. Nothing at all is no folder, there as here. */
export function from(folder: string, path: string): string {
  return folder === '.' || path === '' || path.startsWith('/') ? path : `${folder}/${path}`
}

async function openForCommands({ command, options, positionals }: Parsed): Promise<Store> {
  const { openStore } = await import('../index.js')
  const { anyClasses } = await import('./any-classes.js')
  const maxFileMb = options.number('max-file-mb')
  const limits = maxFileMb === undefined ? {} : { maxFileBytes: maxFileMb * MB }
  // Who runs another command has its signals to pass on, also during a save; who lets a person pick has keys to answer.
  const isAwake = command === 'run' || (command === 'rewind' && positionals.length === 0)
  return openStore({ mayBlock: !isAwake, classes: anyClasses, limits })
}

export async function currentFolder(): Promise<string> {
  const { SavestateError } = await import('../index.js')
  let current: string
  try {
    current = process.cwd()
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT')) throw cause
    throw new SavestateError('PROJECT_MISSING', 'The current folder no longer exists', {
      hint: 'Change to another folder, or name one with -C.',
      cause,
    })
  }
  if (!current.includes('\ufffd')) return current
  // Node has lost bytes of this name, and a search from a wrong name could find a wrong folder.
  throw new SavestateError('BAD_INPUT', 'The path of the current folder is not valid UTF-8', {
    hint: 'Change to the root of the project and add `-C .` to the command.',
  })
}
