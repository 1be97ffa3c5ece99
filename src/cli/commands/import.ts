import { command } from '../command.js'
import { counted, grouped } from '../figures.js'
import { READERS } from '../import-kinds.js'
import { inSession } from '../known-session.js'
import { printableLine } from '../printable.js'
import { IMPORT_KINDS } from '../session-commands.js'

export const run = command({
  async call(request) {
    const kind = IMPORT_KINDS.find((name) => name === request.argument(0))
    if (kind === undefined) throw new Error('The table lets an unknown kind through')
    // Read before anything is made: what is malformed leaves nothing behind.
    const checkpoints = await READERS[kind](request.argument(1))
    const id = request.options.text('session') ?? ''
    return inSession(request, { id, work: (session) => session.import(checkpoints) })
  },
  render({ imported, known }, { options }) {
    const session = printableLine(options.text('session') ?? '')
    const there =
      known === 0 ? '' : ` ${grouped(known)} ${known === 1 ? 'was' : 'were'} there already.`
    return `Imported ${counted(imported, 'checkpoint')} into ${session}.${there}`
  },
})
