// Gives a command what it may use, each thing made when it is first asked for.
import type { Project, Store } from '../index.js'
import type { Request } from './command.js'
import { hasCode } from './exit.js'
import type { Parsed } from './parse.js'
import type { ProgressBar } from './progress-bar.js'
import type { Screen } from './screen.js'

const MB = 1024 * 1024

export type OpenRequest = Request & { close(): Promise<void> }

export function openRequest(
  parsed: Parsed,
  { screen, bar }: { readonly screen: Screen; readonly bar: ProgressBar },
): OpenRequest {
  let opened: Promise<Store> | undefined
  let found: Promise<Project> | undefined
  const store = () => (opened ??= openForCommands(parsed))
  return {
    ...parsed,
    isJson: parsed.options.has('json'),
    screen,
    bar,
    hooks: {
      onProgress: (progress) => bar.update(progress),
      onNotice: (text) => {
        bar.erase()
        void import('./printable.js').then(({ printable }) => screen.note(printable(text)))
      },
    },
    argument(index) {
      const text = parsed.positionals[index]
      if (text === undefined) throw new Error(`The table lacks argument ${index}`)
      return text
    },
    store,
    project: () => (found ??= store().then((open) => findProject(open, parsed.options.text('C')))),
    async close() {
      // A store that could not be opened has been reported as such.
      const open = await opened?.catch(() => undefined)
      await open?.close()
    },
  }
}

async function openForCommands({ options }: Parsed): Promise<Store> {
  const { openStore } = await import('../index.js')
  const { anyClasses } = await import('./any-classes.js')
  const maxFileMb = options.number('max-file-mb')
  const limits = maxFileMb === undefined ? {} : { maxFileBytes: maxFileMb * MB }
  return openStore({ mayBlock: true, classes: anyClasses, limits })
}

async function findProject(store: Store, folder: string | undefined): Promise<Project> {
  if (folder !== undefined) return store.project(folder)
  const current = await currentFolder()
  return store.projectFor(current)
}

async function currentFolder(): Promise<string> {
  const { SavestateError } = await import('../index.js')
  let current: string
  try {
    current = process.cwd()
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT')) throw cause
    throw new SavestateError('PROJECT_MISSING', 'The current folder does not exist any more', {
      hint: 'Go to another folder, or name one with -C.',
      cause,
    })
  }
  if (!current.includes('\ufffd')) return current
  // Node has lost bytes of this name, and a search from a wrong name could find a wrong folder.
  throw new SavestateError('BAD_INPUT', 'The path of the current folder is not valid UTF-8', {
    hint: 'Go to the root of the project and add `-C .` to the command.',
  })
}
