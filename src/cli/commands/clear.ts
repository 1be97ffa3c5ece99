import { clearStore } from '../../index.js'
import { command, type Request } from '../command.js'
import { confirmText } from '../confirm.js'
import { EXIT } from '../exit.js'
import { bytes, counted } from '../figures.js'
import { stopDaemon } from '../stop-daemon.js'

type Cleared = { readonly bytesReclaimed: number } | undefined

export const run = command<Cleared>({
  async call(request) {
    if (!(await isWanted(request))) return undefined
    await stopDaemon()
    return clearStore()
  },
  json: (cleared) => ({ applied: cleared !== undefined, ...cleared }),
  render: (cleared) =>
    cleared === undefined
      ? 'Nothing has been removed.'
      : `The store is empty: ${bytes(cleared.bytesReclaimed)} given back.`,
  exitCode: (cleared) => (cleared === undefined ? EXIT.declined : EXIT.done),
})

/** The store is opened only to say what it holds: a damaged one can be cleared too. */
async function isWanted(request: Request): Promise<boolean> {
  if (request.options.has('force') || request.options.has('yes')) return true
  const store = await request.store()
  const { home, sizeBytes, projects, sessions } = await store.status(request.hooks)
  const checkpoints = projects.reduce((sum, project) => sum + project.checkpoints, 0)
  const plan = [
    `This removes everything in ${home} (${bytes(sizeBytes)}):`,
    `  ${counted(checkpoints, 'checkpoint')} of ${counted(projects.length, 'project')}, ${counted(sessions.length, 'session')}`,
    'It cannot be undone.',
  ].join('\n')
  const isAgreed = await confirmText(request, { plan, question: 'Remove it all?' })
  if (isAgreed) await store.close()
  return isAgreed
}
