import { jsonOf } from '../any-classes.js'
import { command } from '../command.js'
import type { Options } from '../parse.js'
import { STATUSES } from '../session-commands.js'
import { sessionsTable } from '../sessions-table.js'

const DEFAULT_LIMIT = 20

export const run = command({
  async call({ store, options, isJson }) {
    const status = STATUSES.find((word) => word === options.text('status'))
    const limit = isJson ? options.number('limit') : shownOf(options) + 1
    const sessions = await (await store()).sessions({
      ...(status === undefined ? {} : { status }),
      ...(options.has('interrupted') ? { interrupted: true } : {}),
      // One more than is shown tells whether there are more.
      ...(limit === undefined ? {} : { limit }),
    })
    return { sessions }
  },
  json: ({ sessions }) => ({
    sessions: sessions.map((session) => ({ ...session, metadata: jsonOf(session.metadata) })),
  }),
  render({ sessions }, { options, screen }) {
    if (sessions.length > 0) return sessionsTable(sessions.slice(0, shownOf(options)), screen)
    if (options.has('interrupted')) return 'No session is interrupted.'
    if (options.has('status')) return `No session has the status ${options.text('status')}.`
    return [
      'There are no sessions yet. An agent begins one with store.session() of the SDK; by hand:',
      '  savestate save --session ID --state FILE',
    ].join('\n')
  },
  note({ sessions }, { options, screen }) {
    const shown = shownOf(options)
    const status = options.has('status') ? ` --status ${options.text('status')}` : ''
    const filter = options.has('interrupted') ? ' --interrupted' : status
    const more = `savestate sessions${filter} --limit ${shown * 5}`
    const hints = [
      sessions.length > shown ? `There are more. See them with: ${more}` : [],
      sessions.some(({ interrupted }) => interrupted)
        ? 'Go on with one that is interrupted: savestate resume ID'
        : [],
    ].flat()
    return hints.length === 0 ? undefined : screen.paintNote('dim', hints.join('\n'))
  },
})

function shownOf(options: Options): number {
  return options.number('limit') ?? DEFAULT_LIMIT
}
