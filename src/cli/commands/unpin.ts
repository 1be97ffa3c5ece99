import { command } from '../command.js'
import { shortIdOf } from '../short-id.js'

export const run = command({
  call: async ({ project, argument }) => (await project()).unpin(argument(0)),
  render: async ({ id }, { project }) =>
    `Unpinned ${await shortIdOf(await project(), id)}: the limits apply to it again.`,
})
