// Sends a session and gives it up, so that another machine can continue it at once.
import * as z from 'zod/mini'
import { storeOperation } from '../../operation/operation.js'
import { localSession } from './local-logs.js'
import { withRemote } from '../named-remote.js'
import { pushLog, type SentLog } from './push-log.js'
import { recordPush } from './push-record.js'
import { type RemoteView, viewRemote } from '../remotes-file.js'

export type HandoffResult = SentLog & { readonly remote: RemoteView; readonly session: string }

export const handoff = storeOperation({
  name: 'handoff',
  summary: 'Send a session, and let another machine continue it',
  effect: 'adds',
  input: () => z.strictObject({ session: z.string(), remote: z.optional(z.string()) }),
  run: async (context, { session, remote }): Promise<HandoffResult> => {
    const log = localSession(context, session)
    return withRemote(context, remote, async (named) => {
      const sent = await pushLog(context, named, { log, isGivenUp: true, isNamed: true })
      recordPush(context, named.entry.name)
      return { remote: viewRemote(named.entry), session, ...sent }
    })
  },
})
