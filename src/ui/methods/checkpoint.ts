// One checkpoint: its details, what it changed, its name and its pin.
import * as z from 'zod/mini'
import type { DiffOptions } from '../../internal.js'
import type { Range } from '../api.js'
import { atCheckpoint, index, optional, range, text } from './inputs.js'
import type { MethodOf } from './method.js'

export const checkpoint: MethodOf<'checkpoint'> = {
  input: z.strictObject(atCheckpoint()),
  changes: false,
  async run({ project, ref }, { project: find, jsonOf }) {
    const { agent, ...details } = await (await find(project)).show(ref)
    const shown = agent === null ? null : { ...agent, metadata: jsonOf(agent.metadata) }
    return { ...details, agent: shown }
  },
}

export const changes: MethodOf<'changes'> = {
  input: range({}),
  changes: false,
  run: async (input, { project }) =>
    (await project(input.project)).diff(input.ref, { ...rangeOptions(input), patch: 'none' }),
}

export const patch: MethodOf<'patch'> = {
  input: range({ path: text(), context: optional(index()) }),
  changes: false,
  run: async (input, { project }) =>
    (await project(input.project)).patch(input.ref, {
      ...rangeOptions(input),
      path: input.path,
      ...(input.context === undefined ? {} : { context: input.context }),
    }),
}

export const folder: MethodOf<'folder'> = {
  input: z.strictObject({ ...atCheckpoint(), path: z.string() }),
  changes: false,
  run: async ({ project, ref, path }, context) =>
    (await context.project(project)).folder(ref, path),
}

export const name: MethodOf<'name'> = {
  input: z.strictObject({ ...atCheckpoint(), name: z.nullable(text()) }),
  changes: true,
  run: async ({ project, ref, name: given }, context) =>
    (await context.project(project)).name(ref, given),
}

export const pin: MethodOf<'pin'> = {
  input: z.strictObject({ ...atCheckpoint(), pinned: z.boolean() }),
  changes: true,
  async run({ project: path, ref, pinned }, context) {
    const project = await context.project(path)
    return pinned ? project.pin(ref) : project.unpin(ref)
  },
}

function rangeOptions(input: Range): Pick<DiffOptions, 'to' | 'previous'> {
  if (input.with === 'previous') return { previous: true }
  return input.with === 'checkpoint' ? { to: input.to } : {}
}
