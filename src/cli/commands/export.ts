import { type ExchangedCheckpoint, SavestateError, type Store } from '../../index.js'
import { jsonForm } from '../runtime/opaque-classes.js'
import type { Command, Request } from '../runtime/command.js'
import { EXIT } from '../runtime/exit.js'
import { sessionToRead } from '../runtime/open-session.js'
import { displayJson } from '../terminal/escape.js'
import type { Screen } from '../terminal/screen.js'
import { quoteForShell } from '../terminal/shell-quote.js'
import { stateYaml } from '../exchange/state-yaml.js'

const MAX_IDS = 20

/** Prints each checkpoint as it is read: all of them together may not fit into memory. */
export const run: Command = async (request) => {
  const { options, isJson, screen } = request
  const isYaml = options.text('format') === 'yaml'
  if (isYaml && isJson)
    throw new SavestateError('BAD_INPUT', '--json and --format yaml cannot be given together')
  const store = await request.store()
  const id = options.text('session') ?? (await onlySession(request, store))
  const session = await sessionToRead(store, id)
  if (isYaml) screen.print(await stateYaml(store, session))
  else await printList(session.export(), screen)
  return EXIT.done
}

async function onlySession({ project }: Request, store: Store): Promise<string> {
  const { path } = await project()
  const ids = (await store.sessions()).flatMap((session) =>
    session.project === path ? [session.id] : [],
  )
  const [first, second] = ids
  if (first === undefined)
    throw new SavestateError('BAD_INPUT', 'This project has no session', {
      hint: '`savestate sessions` lists the sessions of all projects; choose one with --session.',
    })
  if (second === undefined) return first
  const more = ids.length > MAX_IDS ? ` and ${ids.length - MAX_IDS} more` : ''
  throw new SavestateError('BAD_INPUT', `This project has ${ids.length} sessions`, {
    hint: `Choose one with --session: ${ids.slice(0, MAX_IDS).map(quoteForShell).join(', ')}${more}`,
  })
}

async function printList(
  checkpoints: AsyncIterable<ExchangedCheckpoint>,
  screen: Screen,
): Promise<void> {
  // Print one item behind, because no comma follows the last.
  let waiting: string | undefined
  for await (const checkpoint of checkpoints) {
    screen.print(waiting === undefined ? '[' : `${waiting},`)
    waiting = displayJson(toExported(checkpoint)).replace(/^/gm, '  ')
  }
  screen.print(waiting === undefined ? '[]' : `${waiting}\n]`)
}

/** Adds `tagged` if a value in the item needs a tag. */
function toExported(checkpoint: ExchangedCheckpoint) {
  const { data, changes, metadata, ...rest } = checkpoint
  const [state, extra] = [jsonForm(changes ?? data), jsonForm(metadata)]
  const isTagged = !state.isPlain || !extra.isPlain
  return {
    ...rest,
    [changes === undefined ? 'data' : 'changes']: state.json,
    metadata: extra.json,
    ...(isTagged ? { tagged: true } : {}),
  }
}
