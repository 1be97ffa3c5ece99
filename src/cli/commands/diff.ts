import type { Project } from '../../index.js'
import { command } from '../runtime/command.js'
import { diffText, statWidth, UNCUT_WIDTH } from '../render/diff-text.js'
import { projectPaths } from '../runtime/path-arguments.js'

/** A checkpoint of a session may have a state and no files. */
async function newestWithFiles(project: Project): Promise<string> {
  const checkpoints = await project.list()
  return checkpoints.find(({ hasFiles }) => hasFiles)?.id ?? '1'
}

export const run = command({
  isPaged: true,
  async call(request) {
    const { project, positionals, options, screen, hooks, isJson } = request
    const [from, to] = positionals
    const here = await project()
    return here.diff(from ?? (await newestWithFiles(here)), {
      ...(to === undefined ? {} : { to }),
      paths: await projectPaths(request, request.paths),
      patch: options.has('stat') ? 'stat' : 'full',
      width: isJson ? statWidth(screen) : UNCUT_WIDTH,
      ...hooks,
    })
  },
  render: (result, { options, screen }) =>
    diffText(result, { screen, isStat: options.has('stat') }),
})
