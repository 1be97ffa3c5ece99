// Serves the page until Ctrl-C, or until no page has been open for a while. The server listens before the store is open.
import { dirname, join, resolve } from 'node:path'
import { plural, programPath, version } from '../../base/index.js'
import { openStore, type Project, SavestateError, type Store } from '../../index.js'
import {
  type ExportResult,
  type PageContext,
  pageExport,
  pageMethods,
  servePage,
} from '../../ui/index.js'
import { anyClasses, jsonOf } from '../runtime/opaque-classes.js'
import type { Command, Request } from '../runtime/command.js'
import { endOnSignals, EXIT, report } from '../runtime/exit.js'
import { findProject } from '../runtime/request.js'
import { displayPath } from '../terminal/escape.js'
import { formatBytes } from '../terminal/format-numbers.js'
import { openBrowser, type OpenedBrowser } from '../ui/open-browser.js'

const MAX_PORT = 65_535

type Opened = { readonly store: Store; readonly context: PageContext }

export const run: Command = async (request) => {
  const { screen, isJson, options } = request
  const file = options.text('export')
  if (file !== undefined) return exportTo(request, file)
  const port = readPort(request)
  const stopped = endOnSignals()
  const failing = new AbortController()
  let opened: Promise<Opened> | undefined
  let browser: OpenedBrowser | undefined
  const open = () => (opened ??= openPage(request))
  try {
    const page = await servePage({
      folder: pageFolder(),
      port,
      isReadOnly: options.has('read-only'),
      context: async () => (await open()).context,
      onPage: () => browser?.remove(),
      report: (error) => void report(error, { screen, isJson }),
      signal: AbortSignal.any([stopped, failing.signal]),
    })
    if (isJson) screen.print(JSON.stringify({ url: page.url }))
    else printAddress(request, page.url)
    if (!options.has('no-open')) browser = startBrowser(request, page.url)
    // Without a store there is nothing to serve: its error ends the command.
    const failure = open().then(() => undefined)
    failure.catch(() => failing.abort())
    const why = await page.ended
    await failure
    if (why === 'idle' && !isJson) screen.note('No page was open for 15 minutes. Ended.')
  } finally {
    browser?.remove()
    // `failure` above has the error of a store that could not be opened.
    const store = await opened?.then(
      (open) => open.store,
      () => undefined,
    )
    await store?.close()
  }
  return EXIT.done
}

const pageFolder = (): string => join(dirname(programPath()), '..', 'ui')

async function exportTo(request: Request, file: string): Promise<number> {
  const { screen, isJson, folder } = request
  const { store, context } = await openPage(request)
  try {
    const { exportPage } = await pageExport()
    const result = await exportPage({
      path: resolve(folder, file),
      template: join(pageFolder(), 'export.html'),
      context: { ...context, isReadOnly: true },
      now: screen.now,
    })
    if (isJson) screen.print(JSON.stringify(result))
    else screen.print(describeExport(result))
    return EXIT.done
  } finally {
    await store.close()
  }
}

function describeExport({ path, sizeBytes, checkpoints, leftOut }: ExportResult): string {
  return [
    `Written: ${displayPath(path)}, ${formatBytes(sizeBytes)}, ${checkpoints} ${plural(checkpoints, 'checkpoint')}`,
    ...(leftOut.length === 0 ? [] : [`Left out: ${leftOut.join('; ')}`]),
    'Secrets with a known shape are masked. Read the file before you send it to others.',
  ].join('\n')
}

function readPort({ options }: Request): number {
  const port = options.number('port') ?? 0
  if (Number.isInteger(port) && port >= 0 && port <= MAX_PORT) return port
  throw new SavestateError('BAD_INPUT', `There is no port ${port}`, {
    hint: `Choose one from 1 to ${MAX_PORT}, or leave it out: then any free port is used.`,
  })
}

/** With threads, unlike other commands: the server answers while a large folder is read. */
async function openPage({ folder, options }: Request): Promise<Opened> {
  const { openPageContext } = await pageMethods()
  const store = await openStore({ classes: anyClasses, remote: false })
  try {
    const context = openPageContext({
      store,
      version: version(),
      isReadOnly: options.has('read-only'),
      own: await ownProject(store, folder),
      jsonOf,
      program: { programPath: process.argv[1] ?? 'savestate', nodePath: process.execPath },
      environment: process.env,
    })
    return { store, context }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Undefined in a folder that is never a project, such as the home: the page then shows the project that was used last. */
async function ownProject(store: Store, folder: string): Promise<Project | undefined> {
  try {
    return await findProject(store, { folder })
  } catch (error) {
    if (error instanceof SavestateError && NO_PROJECT.includes(error.code)) return undefined
    throw error
  }
}

const NO_PROJECT: readonly string[] = ['PROJECT_REFUSED', 'PROJECT_MISSING']

/** The token is printed only on a terminal: a log file may be read by others. */
function printAddress({ screen }: Request, url: string): void {
  if (screen.isTerminal) screen.print(`${url}\nEnd with Ctrl-C.`)
  else {
    screen.print(url.slice(0, url.indexOf('#')))
    screen.note('The key of the page is printed only on a terminal and with --json.')
  }
}

function startBrowser({ screen, isJson }: Request, url: string): OpenedBrowser {
  const browser = openBrowser(url)
  void browser.isOpened.then((isOpened) => {
    if (isOpened) return
    browser.remove()
    if (!isJson) screen.note('No browser could be opened. Open the address yourself.')
  })
  return browser
}
