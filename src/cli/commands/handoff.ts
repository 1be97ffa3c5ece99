import { type HandoffResult, SavestateError } from '../../index.js'
import { command, type Request } from '../runtime/command.js'
import { forkLines } from '../render/shared-logs.js'
import { printableLine } from '../terminal/escape.js'
import { formatBytes } from '../terminal/format-numbers.js'
import { quoteForShell } from '../terminal/shell-quote.js'

export const run = command<HandoffResult>({
  async call(request) {
    const remote = request.options.text('remote')
    const session = request.positionals[0] ?? (await lastSession(request))
    const { remotes } = await request.store()
    return remotes.handoff(session, remote === undefined ? {} : { remote })
  },
  render(result) {
    const { session, remote, segments, bytes } = result
    const sent = segments === 0 ? 'it had everything' : `${formatBytes(bytes)} sent`
    return [
      `${printableLine(session)} is on ${remote.name} (${sent}), and any machine can continue it:`,
      `  savestate pull ${quoteForShell(session)}`,
      ...forkLines([{ id: session, fork: result.fork }]),
    ].join('\n')
  },
})

/** The last used session of the project. */
async function lastSession({ store, project }: Request): Promise<string> {
  const { path } = await project()
  const [session] = await (await store()).sessions({ project: path, limit: 1 })
  if (session !== undefined) return session.id
  throw new SavestateError('SESSION_UNKNOWN', 'This project has no sessions', {
    hint: 'Name one: savestate handoff SESSION',
  })
}
