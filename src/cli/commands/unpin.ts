import { command } from '../runtime/command.js'
import { shortIdOf } from '../terminal/short-id.js'

export const run = command({
  call: async ({ project, argument }) => (await project()).unpin(argument(0)),
  render: async ({ id }, request) =>
    `Unpinned ${await shortIdOf(request, id)}: the limits apply to it again.`,
})
