// The tool that returns checkpoints as patches for `git am`.
import type { Effect } from '../base/index.js'
import { SavestateError } from '../index.js'
import { z } from './library.js'
import { defineTool, text, type Tool } from './tool.js'

const MAX_BYTES = 100_000

export function commitsTool(effect: Effect, ref: z.ZodString): Tool {
  return defineTool({
    name: 'checkpoint_commits',
    title: 'Checkpoints as commits',
    description:
      'Return the work between two checkpoints as an mbox for `git am`, one commit per prompt. Writes nothing. For more than 100 kB, the user runs `savestate commits`.',
    effect,
    input: z.strictObject({
      from: ref.describe('The checkpoint before the first change'),
      to: ref.describe('The last checkpoint').default('1'),
      per: z
        .enum(['prompt', 'step', 'all'])
        .describe('One commit for each of these')
        .default('prompt'),
      template: text('The message, with {subject}, {body}, {prompt}, {agent}', 2000).optional(),
    }),
    async run({ project, given: { from, to, per, template }, hooks }) {
      const message = template === undefined ? {} : { template }
      const result = await project.commits(`${from}..${to}`, { per, ...message, ...hooks })
      const { commits, content } = result
      if (content.length > MAX_BYTES)
        throw new SavestateError('BAD_INPUT', 'The commits are larger than 100 kB', {
          hint: 'Choose a smaller range, or run `savestate commits` with -o FILE.',
        })
      const mbox = Buffer.from(content).toString('utf8')
      const shown = commits.length === 0 ? 'No file that git tracks differs.' : mbox
      return { text: shown, message: shown, result: { commits, mbox } }
    },
  })
}
