import { command } from '../command.js'
import { shortIdOf } from '../short-id.js'

export const run = command({
  call: async ({ project, argument }) => (await project()).unpin(argument(0)),
  render: async ({ id }, request) =>
    `Unpinned ${await shortIdOf(request, id)}: the limits apply to it again.`,
})
