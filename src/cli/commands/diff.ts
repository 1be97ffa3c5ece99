import { command } from '../command.js'
import { diffText } from '../diff-text.js'
import { projectPaths } from '../project-path.js'

const WIDTH_WITHOUT_TERMINAL = 80

export const run = command({
  isPaged: true,
  async call(request) {
    const { project, positionals, options, screen, hooks } = request
    const to = positionals[1]
    return (await project()).diff(
      {
        from: request.argument(0),
        ...(to === undefined ? {} : { to }),
        paths: await projectPaths(request, request.paths),
        patch: options.has('stat') ? 'stat' : 'full',
        width: Math.min(screen.width, 1000) === 1000 ? WIDTH_WITHOUT_TERMINAL : screen.width,
      },
      hooks,
    )
  },
  render: (result, { options, screen }) =>
    diffText(result, { screen, isStat: options.has('stat') }),
})
