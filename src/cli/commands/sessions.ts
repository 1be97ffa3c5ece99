import { jsonOf } from '../runtime/opaque-classes.js'
import { type Command, command } from '../runtime/command.js'
import type { Options } from '../args/parse.js'
import { INTERRUPTED, STATUSES } from '../args/agent-commands.js'
import { remoteSessionsTable } from '../render/remote-sessions-table.js'
import { sessionsTable } from '../render/sessions-table.js'
import { programFor } from '../terminal/shell-quote.js'

const DEFAULT_LIMIT = 20

export const run: Command = (request) =>
  request.options.has('remote') ? listRemote(request) : listLocal(request)

const listLocal = command({
  async call({ store, project, options, isJson }) {
    const status = STATUSES.find((word) => word === options.text('status'))
    const limit = isJson ? options.number('limit') : shownOf(options) + 1
    const sessions = await (await store()).sessions({
      ...(status === undefined ? {} : { status }),
      ...(isInterrupted(options) ? { interrupted: true } : {}),
      ...(options.has('here') ? { project: (await project()).path } : {}),
      // One more than is shown, to know whether there are more.
      ...(limit === undefined ? {} : { limit }),
    })
    return { sessions }
  },
  json: ({ sessions }) => ({
    sessions: sessions.map((session) => ({ ...session, metadata: jsonOf(session.metadata) })),
  }),
  render({ sessions }, { options, screen }) {
    if (sessions.length > 0) return sessionsTable(sessions.slice(0, shownOf(options)), screen)
    const where = options.has('here') ? ' of this project' : ''
    if (isInterrupted(options)) return `No session${where} is interrupted.`
    if (options.has('status')) return `No session${where} has the status ${options.text('status')}.`
    if (options.has('here')) return 'This project has no sessions.'
    return [
      'There are no sessions. Agents with hooks (`savestate install claude`) and programs that use the SDK start one. To start one yourself:',
      '  savestate save --session ID --state FILE',
    ].join('\n')
  },
  note({ sessions }, { options, screen }) {
    const shown = shownOf(options)
    const filters = [
      options.has('here') ? ' --here' : '',
      options.has('interrupted') ? ' --interrupted' : '',
      options.has('status') ? ` --status ${options.text('status')}` : '',
    ]
    const more = `${programFor(options)} sessions${filters.join('')} --limit ${shown * 5}`
    const hints = [
      sessions.length > shown ? `There are more. See them with: ${more}` : [],
      sessions.some(({ interrupted }) => interrupted)
        ? 'To continue one that is interrupted: savestate resume ID'
        : [],
    ].flat()
    return hints.length === 0 ? undefined : screen.paintNote('dim', hints.join('\n'))
  },
})

const listRemote = command({
  async call({ store, options, isJson, hooks: { onWarning } }) {
    const remote = options.text('remote') ?? ''
    const limit = isJson ? options.number('limit') : shownOf(options) + 1
    const sessions = await (await store()).remotes.sessions({
      ...(remote === '' ? {} : { remote }),
      ...(limit === undefined ? {} : { limit }),
      onWarning,
    })
    return { sessions }
  },
  render: ({ sessions }, { options, screen }) =>
    sessions.length === 0
      ? 'The remote has no sessions. To send those of this project: savestate push'
      : remoteSessionsTable(sessions.slice(0, shownOf(options)), screen),
  note({ sessions }, { options, screen }) {
    const shown = shownOf(options)
    if (sessions.length <= shown) return undefined
    const more = `${programFor(options)} sessions --remote ${options.text('remote') ?? ''} --limit ${shown * 5}`
    return screen.paintNote('dim', `There are more. See them with: ${more.replace(/ {2,}/, ' ')}`)
  },
})

function isInterrupted(options: Options): boolean {
  return options.has('interrupted') || options.text('status') === INTERRUPTED
}

function shownOf(options: Options): number {
  return options.number('limit') ?? DEFAULT_LIMIT
}
