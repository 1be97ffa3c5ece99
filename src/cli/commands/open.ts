import { command } from '../runtime/command.js'
import { dependencyMode } from '../runtime/dependency-mode.js'
import { displayPath, printableLine } from '../terminal/escape.js'
import { shortIdOf } from '../terminal/short-id.js'
import { quoteForShell } from '../terminal/shell-quote.js'

export const run = command({
  async call(request) {
    const [ref = '', into] = request.positionals
    return (await request.project()).open(ref, {
      ...(into === undefined ? {} : { into }),
      ...dependencyMode(request.options),
      ...request.hooks,
    })
  },
  render: async ({ path, checkpoint }, request) =>
    [
      `Wrote ${printableLine(await shortIdOf(request, checkpoint))} to ${displayPath(path)}`,
      `Go there with: cd ${quoteForShell(path)}`,
    ].join('\n'),
})
