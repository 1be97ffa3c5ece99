// The store as a whole: its size, its health, and what a prune would remove.
import * as z from 'zod/mini'
import { commandLine } from '../../base/index.js'
import { isRunning, readAddress } from '../../daemon/index.js'
import { agentStates } from './agent-hooks.js'
import { limit, optional } from './inputs.js'
import type { MethodOf } from './method.js'

const MAX_NUMBER = 1_000_000_000

export const store: MethodOf<'store'> = {
  input: z.strictObject({}),
  changes: false,
  async run(_input, context) {
    const { store: opened, jsonOf } = context
    const status = await opened.status()
    const sessions = status.sessions.map((one) => ({ ...one, metadata: jsonOf(one.metadata) }))
    const address = readAddress(opened.home)
    const running = address !== undefined && isRunning(address.pid)
    return {
      home: opened.home,
      status: { ...status, sessions },
      daemon: { running, pid: running ? address.pid : null },
      agents: await agentStates(context),
    }
  },
}

export const prunePreview: MethodOf<'prunePreview'> = {
  input: z.strictObject({
    maxSizeMb: optional(limit(MAX_NUMBER)),
    retentionDays: optional(limit(MAX_NUMBER)),
  }),
  changes: false,
  async run(limits, { store: opened }) {
    const { maxSizeMb, retentionDays } = limits
    const words = [
      ...(maxSizeMb === undefined ? [] : ['--max-size-mb', `${maxSizeMb}`]),
      ...(retentionDays === undefined ? [] : ['--retention-days', `${retentionDays}`]),
    ]
    return {
      result: await opened.prune({ ...limits, dryRun: true }),
      command: commandLine(['savestate', 'prune', ...words]),
    }
  },
}

export const verify: MethodOf<'verify'> = {
  input: z.strictObject({ quick: z.boolean() }),
  changes: false,
  run: async ({ quick }, { store: opened }) => opened.verify({ quick }),
}
