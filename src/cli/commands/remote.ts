import { resolve } from 'node:path'
import {
  type AddedRemote,
  type DroppedFromRemote,
  type InitializedRemote,
  type RemoteView,
  SavestateError,
} from '../../index.js'
import { holderText } from '../render/shared-logs.js'
import { type Command, command, Declined, type Request } from '../runtime/command.js'
import { usageOf } from '../args/commands-table.js'
import { confirmPlan } from '../runtime/confirm.js'
import { printable, printableLine } from '../terminal/escape.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import { textTable } from '../terminal/table.js'

/** The options of each action; none takes those of another. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  list: [],
  add: ['key-file', 'plain', 'schema', 'auto-push'],
  set: ['auto-push', 'no-auto-push'],
  init: ['print-sql', 'role'],
  remove: [],
  drop: ['take', 'dry-run', 'yes'],
}
const ARGUMENTS: Readonly<Record<string, number>> = {
  list: 1,
  add: 3,
  set: 2,
  init: 2,
  remove: 2,
  drop: Infinity,
}

export const run: Command = (request) => {
  const [action = 'list'] = request.positionals
  refuseForeign(request, action)
  if (action === 'add') return add(request)
  if (action === 'set') return set(request)
  if (action === 'remove') return remove(request)
  if (action === 'drop') return drop(request)
  if (action === 'init') return request.options.has('print-sql') ? printSql(request) : init(request)
  return list(request)
}

const list = command<readonly RemoteView[]>({
  call: async ({ store }) => (await store()).remotes.list(),
  json: (remotes) => ({ remotes }),
  render: (remotes, { screen }) =>
    remotes.length === 0
      ? 'There are no remotes, so nothing leaves this machine. To add one: savestate remote add NAME URL --key-file FILE'
      : textTable(remotes, {
          screen,
          columns: [
            { cell: ({ name }) => name, color: 'yellow' },
            { cell: (remote) => printable(locationOf(remote)) },
            { cell: ({ keyFile }) => (keyFile === null ? 'not encrypted' : 'encrypted') },
          ],
          last: ({ autoPush }) => (autoPush ? 'auto-push' : ''),
        }),
})

const add = command<AddedRemote>({
  async call({ store, options, folder, positionals }) {
    const [name, url] = [required(positionals[1], 'NAME'), required(positionals[2], 'URL')]
    const [keyFile, schema] = [options.text('key-file'), options.text('schema')]
    return (await store()).remotes.add(name, {
      url: /^\.{1,2}(?:\/|$)/.test(url) ? resolve(folder, url) : url,
      ...(keyFile === undefined ? {} : { keyFile: resolve(folder, keyFile) }),
      ...(schema === undefined ? {} : { schema }),
      plain: options.has('plain'),
      autoPush: options.has('auto-push'),
    })
  },
  render(added) {
    const { name, keyFile, isKeyNew } = added
    const key =
      keyFile === null
        ? ['Nothing that you push there is encrypted: the server can read it.']
        : isKeyNew
          ? [
              `A new key is in ${printable(keyFile)}. Keep a copy: without it nothing on the remote can be read. Your other machines need it too.`,
            ]
          : [`The key is the one in ${printable(keyFile)}.`]
    return [
      `${name} is ${printable(locationOf(added))}.`,
      ...key,
      `If the remote is new: savestate remote init ${name}`,
    ].join('\n')
  },
})

const set = command<RemoteView>({
  async call({ store, options, positionals }) {
    const name = required(positionals[1], 'NAME')
    const autoPush = options.has('auto-push')
    if (!autoPush && !options.has('no-auto-push'))
      throw wrongUsage('--auto-push or --no-auto-push is missing')
    return (await store()).remotes.set(name, { autoPush })
  },
  render: ({ name, autoPush }) =>
    autoPush
      ? `The daemon pushes to ${name} after each turn, from the projects that you have pushed from.`
      : `The daemon no longer pushes to ${name}.`,
})

const init = command<InitializedRemote>({
  call: async ({ store, positionals }) => (await store()).remotes.init(positionals[1]),
  render: (remote) =>
    `${remote.name} (${printable(locationOf(remote))}) is ready. Send the sessions of a project: savestate push`,
})

const printSql = command<string>({
  isVerbatim: true,
  call: async ({ store, positionals, options }) => {
    const role = options.text('role')
    return (await store()).remotes.initSql(positionals[1], role === undefined ? {} : { role })
  },
  json: (sql) => ({ sql }),
  render: (sql) => sql.trimEnd(),
})

const remove = command<RemoteView>({
  call: async ({ store, positionals }) =>
    (await store()).remotes.remove(required(positionals[1], 'NAME')),
  json: (removed) => ({ removed }),
  render: (removed) =>
    `${removed.name} (${printable(locationOf(removed))}) is forgotten. Its sessions stay there.`,
})

const drop = command<DroppedFromRemote>({
  async call(request) {
    const { positionals, options } = request
    const remote = required(positionals[1], 'NAME')
    const sessions = [required(positionals[2], 'SESSION'), ...positionals.slice(3)]
    const { remotes } = await request.store()
    const given = { remote, take: options.has('take') }
    const plan = () => remotes.drop(sessions, { ...given, dryRun: true })
    const planned = await plan()
    if (options.has('dry-run')) return planned
    const isAgreed = await confirmPlan(request, {
      first: planned,
      again: plan,
      text: (result) => dropPlanText(result, request.screen),
      question: sessions.length === 1 ? 'Delete it there?' : 'Delete them there?',
    })
    return isAgreed ? remotes.drop(sessions, given) : new Declined(planned)
  },
  render(result, { screen }) {
    if (!result.applied) return dropPlanText(result, screen)
    const { remote, sessions, packBytes } = result
    const freed = packBytes === 0 ? '' : `, and ${formatBytes(packBytes)} of files`
    return `${formatCount(sessions.length, 'session')} deleted on ${remote.name}${freed}.`
  },
})

function dropPlanText({ remote, sessions }: DroppedFromRemote, screen: Request['screen']): string {
  return [
    `This deletes ${formatCount(sessions.length, 'session')} on ${remote.name}, for everyone who shares it:`,
    ...sessions.map(({ id, steps, holder }) => {
      const held = holder === null ? '' : `; ${holderText(holder, screen)} has it`
      return `  ${printableLine(id)} (${formatCount(steps, 'step')}${held})`
    }),
    'It cannot be undone there. Copies in stores stay, this one included.',
  ].join('\n')
}

/** As in `db.example.org/agents, schema team`. */
function locationOf({ label, schema = null }: InitializedRemote): string {
  return schema === null ? label : `${label}, schema ${schema}`
}

function required(value: string | undefined, name: string): string {
  if (value !== undefined) return value
  throw wrongUsage(`${name} is missing`)
}

function refuseForeign({ options, positionals }: Request, action: string): void {
  const foreign = Object.values(OPTIONS)
    .flat()
    .find((name) => options.has(name) && OPTIONS[action]?.includes(name) !== true)
  if (foreign !== undefined) throw wrongUsage(`\`remote ${action}\` does not take --${foreign}`)
  // Not its text: it may be a URL with a password.
  if (positionals.length > (ARGUMENTS[action] ?? 0))
    throw wrongUsage(`\`remote ${action}\` takes fewer arguments`)
}

function wrongUsage(message: string): SavestateError {
  return new SavestateError('BAD_INPUT', message, { hint: `Usage: ${usageOf('remote')}` })
}
