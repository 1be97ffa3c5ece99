import { jsonOf } from '../runtime/opaque-classes.js'
import { command } from '../runtime/command.js'
import { printableLines } from '../terminal/escape.js'

export const run = command({
  isVerbatim: true,
  async call({ store, argument, options, hooks }) {
    const resumed = await (await store()).resume(argument(0), hooks)
    const { session: open, info, brief, ...rest } = resumed
    const maxChars = options.number('max-chars')
    const text = brief(maxChars === undefined ? {} : { maxChars })
    await open.close()
    return { session: info, ...rest, brief: text }
  },
  json: ({ session, checkpoint, state, inFlight, changedSince, notices, brief }) => ({
    session: { ...session, metadata: jsonOf(session.metadata) },
    checkpoint,
    state: jsonOf(state),
    inFlight: inFlight.map(({ startedAt, ...call }) => ({
      ...Object(jsonOf(call)),
      startedAt: startedAt.toISOString(),
    })),
    changedSince,
    notices,
    brief,
  }),
  render: ({ brief }) => printableLines(brief),
})
