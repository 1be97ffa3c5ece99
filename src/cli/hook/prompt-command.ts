// Runs a command that the user typed as a prompt of an agent, as the command line does, but into a text. Only in the process
// of a hook that the agent itself has started, so the agent's mark in the environment does not count.
import type { Project } from '../../index.js'
import type { Command, Request } from '../runtime/command.js'
import { parse } from '../args/parse.js'
import { progressBar } from '../terminal/progress-bar.js'
import { report } from '../runtime/exit.js'
import { openScreen, type Terminal } from '../terminal/screen.js'

const LOAD: Readonly<Record<string, () => Promise<{ run: Command }>>> = {
  rewind: () => import('../commands/rewind.js'),
  undo: () => import('../commands/undo.js'),
  redo: () => import('../commands/undo.js'),
  list: () => import('../commands/list.js'),
  status: () => import('../commands/status.js'),
}

/** The output of the command; undefined if the command line would not accept these words. */
export async function runPromptCommand(
  { store }: Pick<Request, 'store'>,
  { words, project }: { readonly words: readonly string[]; readonly project: Project },
): Promise<string | undefined> {
  const { fault, ...parsed } = parse(words)
  const load = LOAD[parsed.command ?? '']
  if (fault !== undefined || load === undefined) return undefined
  let output = ''
  const write = (text: string) => {
    output += text
  }
  const terminal: Terminal = { stdout: { write }, stderr: { write }, env: { NO_COLOR: '1' } }
  const screen = openScreen(terminal)
  const request: Request = {
    ...parsed,
    isJson: false,
    isAgent: false,
    typed: words,
    screen,
    bar: progressBar(terminal),
    folder: '.',
    hooks: { onWarning: (text) => screen.note(text) },
    argument: (index) => parsed.positionals[index] ?? '',
    store,
    project: async () => project,
  }
  try {
    const { run } = await load()
    await run(request)
  } catch (error) {
    await report(error, { screen, isJson: false })
  }
  return output.trimEnd()
}
