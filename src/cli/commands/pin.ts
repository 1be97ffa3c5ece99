import { command } from '../runtime/command.js'
import { shortIdOf } from '../terminal/short-id.js'

export const run = command({
  call: async ({ project, argument }) => (await project()).pin(argument(0)),
  render: async ({ id }, request) =>
    `Pinned ${await shortIdOf(request, id)}: it is kept regardless of the limits.`,
})
