import { COMPLETION_SCRIPTS } from '../args/completion-scripts.js'
import { command } from '../runtime/command.js'

export const run = command({
  isVerbatim: true,
  call: async ({ argument }) => ({
    shell: argument(0),
    script: COMPLETION_SCRIPTS.get(argument(0)) ?? '',
  }),
  render: ({ script }) => script,
})
