// Shows what `savestate undo <ref>` would do. Only the user carries it out: the tool changes nothing.
import { shellQuote } from '../base/index.js'
import { z } from './library.js'
import { firstOf, formatCount, planLines } from './text.js'
import { defineTool, texts, type Tool } from './tool.js'

export function undoPlanTool(): Tool {
  return defineTool({
    name: 'checkpoint_undo_plan',
    title: 'Plan to undo steps',
    description:
      'Show what taking back the changes of single checkpoints would do to the folder, with everything later kept: files to write and remove, and conflicts with later changes. Changes nothing; only the user can carry it out.',
    effect: 'reads',
    input: z.strictObject({
      refs: texts(
        'Checkpoints to undo: ids, starts of ids, names or numbers; A..B means those after A up to and including B',
      ),
    }),
    async run({ project, given, hooks }) {
      const refs = given.refs ?? []
      const planned = await project.undoSteps(refs, { dryRun: true, ...hooks })
      const { plan } = planned
      const command = ['savestate undo', ...refs.map(shellQuote)].join(' ')
      const conflicts = plan.conflict.map(({ path, reason }) => `conflict ${path} (${reason})`)
      const lines = [
        `Nothing has been changed. The undo would write ${formatCount(plan.write.length, 'path')} and remove ${plan.remove.length}; ${formatCount(conflicts.length, 'conflict')}:`,
        ...firstOf(conflicts),
        ...planLines(plan),
        `The user can run in the project folder: ${command}`,
      ]
      return { text: lines.join('\n'), result: { ...planned, command } }
    },
  })
}
