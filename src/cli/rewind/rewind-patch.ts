// `rewind <ref> --patch`: takes back the changes that the user chooses one by one.
import {
  type CheckpointView,
  type FilePatch,
  type Project,
  type RewindResult,
  SavestateError,
} from '../../index.js'
import { paintPatch } from '../render/diff-text.js'
import type { Request } from '../runtime/command.js'
import { terminalPrompter } from '../runtime/confirm.js'
import { beforeChanges } from '../runtime/exit.js'
import { projectPaths } from '../runtime/path-arguments.js'
import { displayPath, printableLines } from '../terminal/escape.js'
import { pickHunks } from './pick-hunks.js'

export async function rewindPatch(request: Request, named: CheckpointView): Promise<RewindResult> {
  const { options, hooks, screen, bar } = request
  const prompter = terminalPrompter(request)
  if (!prompter.isTerminal)
    throw new SavestateError('BAD_INPUT', '--patch asks about each change, and needs a terminal', {
      hint: 'To restore whole files: savestate rewind <ref> --path FILE',
    })
  const project = await request.project()
  const paths = await projectPaths(request, options.texts('path'))
  const before = options.has('before')
  const planned = await project.rewind(named.id, { before, paths, dryRun: true, ...hooks })
  const files = await patchesOf(project, planned)
  bar.erase()
  let shown: FilePatch | undefined
  const hunks = await beforeChanges(() =>
    pickHunks(files, {
      show({ shown: lines }, file) {
        if (file !== shown) screen.note(screen.paintNote('bold', displayPath(file.path)))
        shown = file
        screen.note(paintPatch(printableLines(lines.join('\n')), screen.paintNote))
      },
      say: (text) => screen.note(text),
      ask: (question) => prompter.ask(question),
    }),
  )
  if (hunks === undefined || hunks.length === 0)
    return { ...planned, declined: files.length > 0, applied: false }
  return project.rewind(planned.target, { hunks, ...hooks })
}

/** In the order of the plan. Folders are made as files need them. */
async function patchesOf(project: Project, { plan, target }: RewindResult): Promise<FilePatch[]> {
  const items = [...plan.write, ...plan.remove].filter(({ type }) => type !== 'folder')
  const paths = items.map(({ path }) => path).sort()
  const patches: FilePatch[] = []
  for (const path of paths) patches.push(await project.patch(target, { path }))
  return patches
}
