// Sessions: their list, one with its checkpoints, and forks.
import * as z from 'zod/mini'
import { commandLine } from '../../base/index.js'
import { conversations } from '../../agents/index.js'
import { freeForkId, SavestateError } from '../../internal.js'
import { atCheckpoint, inProject, optional, text } from './inputs.js'
import type { MethodOf } from './method.js'

export const sessions: MethodOf<'sessions'> = {
  input: z.strictObject(inProject()),
  changes: false,
  async run({ project }, context) {
    const { path } = await context.project(project)
    const found = await context.store.sessions({ project: path })
    return {
      sessions: found.map((one) => ({ ...one, metadata: context.jsonOf(one.metadata) })),
    }
  },
}

export const fork: MethodOf<'fork'> = {
  input: z.strictObject({ ...atCheckpoint(), session: optional(text()) }),
  changes: true,
  async run({ project: path, ref, session: wanted }, context) {
    const { store } = context
    const project = await context.project(path)
    const details = await project.show(ref)
    const { planAtCheckpoint } = await conversations()
    const planned = await planAtCheckpoint(store, details, { before: false, folder: path })
    if (planned !== undefined) {
      const { way, problem, command } = planned.write()
      if (way === 'none')
        throw new SavestateError(
          'CHECKPOINT_PARTIAL',
          `The conversation cannot continue from here: ${problem}`,
        )
      return { session: null, command: command === null ? null : commandLine(command) }
    }
    const id = wanted ?? (await freeForkId(store, details.session))
    await (await store.fork(details.id, { session: id })).close()
    return { session: id, command: commandLine(['savestate', 'resume', '--', id]) }
  },
}
