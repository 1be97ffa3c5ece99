import { command } from '../command.js'
import { diffText, statWidth } from '../diff-text.js'
import { projectPaths } from '../project-path.js'
import { UNCUT_WIDTH } from '../stat-text.js'

export const run = command({
  isPaged: true,
  async call(request) {
    const { project, positionals, options, screen, hooks, isJson } = request
    const to = positionals[1]
    return (await project()).diff(
      {
        from: request.argument(0),
        ...(to === undefined ? {} : { to }),
        paths: await projectPaths(request, request.paths),
        patch: options.has('stat') ? 'stat' : 'full',
        width: isJson ? statWidth(screen) : UNCUT_WIDTH,
      },
      hooks,
    )
  },
  render: (result, { options, screen }) =>
    diffText(result, { screen, isStat: options.has('stat') }),
})
