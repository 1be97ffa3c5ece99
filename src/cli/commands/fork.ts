import { SavestateError, type Store } from '../../index.js'
import { jsonOf } from '../any-classes.js'
import { command } from '../command.js'
import { isKnown } from '../known-session.js'
import { namedCheckpoint } from '../named-checkpoint.js'
import { printableLine } from '../printable.js'
import { shellQuoted } from '../shell-quoted.js'

export const run = command({
  async call(request) {
    const store = await request.store()
    const from = await namedCheckpoint(request)
    const id = request.options.text('session') ?? (await freeId(store, from.session))
    await (await store.fork(from.id, { session: id })).close()
    const made = (await store.sessions()).find((session) => session.id === id)
    if (made === undefined)
      throw new SavestateError('SESSION_DELETED', `The session ${JSON.stringify(id)} was deleted`)
    return { made, from }
  },
  json: ({ made }) => ({ ...made, metadata: jsonOf(made.metadata) }),
  render: ({ made, from }) =>
    [
      from.session === null
        ? `The session ${printableLine(made.id)} begins at ${from.id}.`
        : `The session ${printableLine(made.id)} begins at step ${from.step} of ${printableLine(from.session)}.`,
      `Go on with: savestate resume ${made.id.startsWith('-') ? '-- ' : ''}${shellQuoted(made.id)}`,
    ].join('\n'),
})

/** So much of the old id that there is room for an ending. */
const STEM_LENGTH = 180

async function freeId(store: Store, old: string | null): Promise<string> {
  // Not half of a character, which no id may have.
  const stem = old === null ? '' : `${old.slice(0, STEM_LENGTH).replace(/[\ud800-\udbff]$/, '')}-`
  for (let n = 1; ; n++) {
    const id = `${stem}fork-${n}`
    if (!(await isKnown(store, id))) return id
  }
}
