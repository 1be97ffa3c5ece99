import { type ExchangedCheckpoint, SavestateError, type Store } from '../../index.js'
import { jsonForm } from '../any-classes.js'
import type { Command, Request } from '../command.js'
import { EXIT } from '../exit.js'
import { sessionToRead } from '../known-session.js'
import { jsonForPeople } from '../printable.js'
import type { Screen } from '../screen.js'
import { shellQuoted } from '../shell-quoted.js'
import { stateYaml } from '../state-yaml.js'

const MAX_IDS = 20

/** Prints each checkpoint by itself: all of them in one text could be more than a text can hold. */
export const run: Command = async (request) => {
  const { options, isJson, screen } = request
  const isYaml = options.text('format') === 'yaml'
  if (isYaml && isJson)
    throw new SavestateError('BAD_INPUT', '--json and --format yaml cannot be given together')
  const store = await request.store()
  const id = options.text('session') ?? (await onlySession(request, store))
  const session = await sessionToRead(store, id)
  if (isYaml) screen.print(await stateYaml(store, session))
  else printList(await session.export(), screen)
  return EXIT.done
}

async function onlySession({ project }: Request, store: Store): Promise<string> {
  const { path } = await project()
  const ids = (await store.sessions()).flatMap((session) =>
    session.project === path ? [session.id] : [],
  )
  const [first] = ids
  if (first !== undefined && ids.length === 1) return first
  const shown = ids.slice(0, MAX_IDS).map(shellQuoted).join(', ')
  const more = ids.length > MAX_IDS ? ` and ${ids.length - MAX_IDS} more` : ''
  throw first === undefined
    ? new SavestateError('BAD_INPUT', 'This project has no session', {
        hint: '`savestate sessions` lists the sessions of all projects; choose one with --session.',
      })
    : new SavestateError('BAD_INPUT', `This project has ${ids.length} sessions`, {
        hint: `Choose one with --session: ${shown}${more}`,
      })
}

function printList(checkpoints: readonly ExchangedCheckpoint[], screen: Screen): void {
  const last = checkpoints.length - 1
  screen.print(last < 0 ? '[]' : '[')
  for (const [at, checkpoint] of checkpoints.entries()) {
    const item = jsonForPeople(exchanged(checkpoint)).replace(/^/gm, '  ')
    screen.print(`${item}${at === last ? '\n]' : ','}`)
  }
}

function exchanged({ data, metadata, ...rest }: ExchangedCheckpoint) {
  const [value, extra] = [jsonForm(data), jsonForm(metadata)]
  const isTagged = !value.isPlain || !extra.isPlain
  return { ...rest, data: value.json, metadata: extra.json, ...(isTagged ? { tagged: true } : {}) }
}
