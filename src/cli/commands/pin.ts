import { command } from '../command.js'
import { shortIdOf } from '../short-id.js'

export const run = command({
  call: async ({ project, argument }) => (await project()).pin(argument(0)),
  render: async ({ id }, { project }) =>
    `Pinned ${await shortIdOf(await project(), id)}: it is kept regardless of the limits.`,
})
