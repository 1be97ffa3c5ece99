// `savestate pin` and `savestate unpin`.
import { command } from '../runtime/command.js'
import { shortIdOf } from '../terminal/short-id.js'

export const run = command({
  async call({ project, argument, command: name }) {
    const here = await project()
    return name === 'unpin' ? here.unpin(argument(0)) : here.pin(argument(0))
  },
  async render({ id }, request) {
    const shown = await shortIdOf(request, id)
    return request.command === 'unpin'
      ? `Unpinned ${shown}: the limits apply to it again.`
      : `Pinned ${shown}: it is kept regardless of the limits.`
  },
})
