import { jsonOf } from '../any-classes.js'
import { command } from '../command.js'
import { detailsText } from '../details-text.js'
import { namedCheckpoint } from '../named-checkpoint.js'

export const run = command({
  call: namedCheckpoint,
  json: ({ agent, ...details }) => ({
    ...details,
    agent: agent === null ? null : { ...agent, metadata: jsonOf(agent.metadata) },
  }),
  render: async (details, { store, screen }) =>
    detailsText(details, { screen, home: (await store()).home }),
})
