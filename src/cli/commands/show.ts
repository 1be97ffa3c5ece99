import { jsonOf } from '../runtime/opaque-classes.js'
import { command } from '../runtime/command.js'
import { detailsText } from '../render/details-text.js'
import { findCheckpoint } from '../runtime/checkpoint-argument.js'

export const run = command({
  call: findCheckpoint,
  json: ({ agent, ...details }) => ({
    ...details,
    agent: agent === null ? null : { ...agent, metadata: jsonOf(agent.metadata) },
  }),
  render: async (details, { store, screen }) =>
    detailsText(details, { screen, home: (await store()).home }),
})
