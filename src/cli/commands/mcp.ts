// Serves MCP on stdin and stdout until the client ends.
import { openStore, type Project, type Store } from '../../index.js'
import { serveMcp } from '../../mcp/index.js'
import { anyClasses, jsonOf } from '../runtime/opaque-classes.js'
import type { Command, Request } from '../runtime/command.js'
import { endOnSignals, EXIT, report } from '../runtime/exit.js'
import { ownStream } from '../terminal/stdio.js'
import { findProject } from '../runtime/request.js'
import { version } from '../../base/index.js'

type Opened = { readonly store: Store; readonly project: Project }

export const run: Command = async (request) => {
  const { screen, isJson, options } = request
  const signal = endOnSignals()
  const reportError = (error: unknown) => void report(error, { screen, isJson })
  let opened: Promise<Opened> | undefined
  const open = () =>
    (opened ??= openProject(request).catch((error: unknown) => {
      // A server runs for hours, so the next call tries again.
      opened = undefined
      throw error
    }))
  try {
    await serveMcp({
      input: process.stdin,
      output: ownStream('stdout'),
      signal,
      version: version(),
      project: async () => (await open()).project,
      mayRewind: options.has('allow-agent-rewind'),
      jsonOf,
      report: reportError,
    })
  } finally {
    await opened?.then(({ store }) => store.close(), reportError)
  }
  return EXIT.done
}

/** With threads, unlike other commands: the server answers while a large folder is read. */
async function openProject({ folder }: Request): Promise<Opened> {
  const store = await openStore({ classes: anyClasses, remote: false })
  try {
    const project = await findProject(store, { folder })
    return { store, project }
  } catch (error) {
    await store.close()
    throw error
  }
}
