import { type CheckpointDetails, freeForkId, SavestateError } from '../../internal.js'
import { jsonOf } from '../runtime/opaque-classes.js'
import { command, type Request } from '../runtime/command.js'
import { findCheckpoint } from '../runtime/checkpoint-argument.js'
import { printableLine } from '../terminal/escape.js'
import { programFor, quoteForShell } from '../terminal/shell-quote.js'

export const run = command({
  async call(request) {
    const store = await request.store()
    const from = await findCheckpoint(request).catch((error: unknown) => {
      throw explainUnknown(error, request)
    })
    const id = request.options.text('as') ?? (await freeForkId(store, from.session))
    await (await store.fork(from.id, { session: id })).close()
    const made = (await store.sessions()).find((session) => session.id === id)
    if (made === undefined)
      throw new SavestateError('SESSION_DELETED', `The session ${JSON.stringify(id)} was deleted`)
    return { made, from }
  },
  json: ({ made }) => ({ ...made, metadata: jsonOf(made.metadata) }),
  render: async ({ made, from }, { options }) =>
    [
      from.session === null
        ? `The session ${printableLine(made.id)} starts at ${from.id}.`
        : `The session ${printableLine(made.id)} starts at step ${from.step} of ${printableLine(from.session)}.`,
      `Continue it with: savestate resume ${made.id.startsWith('-') ? '-- ' : ''}${quoteForShell(made.id)}`,
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
