import { type CheckpointDetails, freeForkId, SavestateError } from '../../internal.js'
import { jsonOf } from '../runtime/opaque-classes.js'
import { command, type Request } from '../runtime/command.js'
import { findCheckpoint } from '../runtime/checkpoint-argument.js'
import { dependencyMode } from '../runtime/dependency-mode.js'
import { displayPath, printableLine } from '../terminal/escape.js'
import { programFor, quoteForShell } from '../terminal/shell-quote.js'

export const run = command({
  async call(request) {
    const store = await request.store()
    const from = await findCheckpoint(request).catch((error: unknown) => {
      throw explainUnknown(error, request)
    })
    const id = request.options.text('as') ?? (await freeForkId(store, from.session))
    const into = request.options.text('into')
    const folder = into === undefined ? {} : { into, ...dependencyMode(request.options) }
    await (await store.fork(from.id, { session: id, ...folder })).close()
    const made = (await store.sessions()).find((session) => session.id === id)
    if (made === undefined)
      throw new SavestateError('SESSION_DELETED', `The session ${JSON.stringify(id)} was deleted`)
    return { made, from, path: into === undefined ? undefined : made.project }
  },
  json: ({ made, path }) => ({
    ...made,
    metadata: jsonOf(made.metadata),
    ...(path === undefined ? {} : { path }),
  }),
  render: async ({ made, from, path }, { options }) =>
    [
      from.session === null
        ? `The session ${printableLine(made.id)} starts at ${from.id}.`
        : `The session ${printableLine(made.id)} starts at step ${from.step} of ${printableLine(from.session)}.`,
      `Continue it with: savestate resume ${made.id.startsWith('-') ? '-- ' : ''}${quoteForShell(made.id)}`,
      ...(typeof path === 'string' ? folderLines(made.id, path) : []),
      ...(await agentLines(from, programFor(options))),
    ].join('\n'),
})

/** `--session` names the session to fork; the user may have meant the new one. */
function explainUnknown(error: unknown, { options }: Request): unknown {
  if (!(error instanceof SavestateError) || error.code !== 'SESSION_UNKNOWN') return error
  const id = options.text('session') ?? ''
  return new SavestateError(error.code, error.message, {
    hint: `\`savestate sessions\` lists them. To choose the id of the new session: --as ${quoteForShell(id)}`,
    cause: error,
  })
}

function folderLines(id: string, path: string): readonly string[] {
  return [
    `It works in ${displayPath(path)}: cd ${quoteForShell(path)}`,
    `Take over its files here with: savestate adopt ${quoteForShell(id)}`,
  ]
}

/** A coding agent does not know a fork, which is a session of Savestate. */
async function agentLines(from: CheckpointDetails, program: string): Promise<readonly string[]> {
  const { conversations } = await import('../../agents/index.js')
  const agent = (await conversations()).agentCheckpoint(from)?.agent
  if (agent === undefined) return []
  return [
    `${agent} cannot continue a fork by itself. To go back in its conversation:`,
    `  ${program} rewind ${from.id} --conversation`,
  ]
}
