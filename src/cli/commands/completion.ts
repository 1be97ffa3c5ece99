import { command } from '../runtime/command.js'
import { COMPLETION_SCRIPTS, isShell, SHELLS } from '../args/completion-scripts.js'

export const run = command({
  isVerbatim: true,
  async call({ argument }) {
    const shell = argument(0)
    if (isShell(shell)) return { shell, script: COMPLETION_SCRIPTS[shell] }
    const { SavestateError } = await import('../../index.js')
    throw new SavestateError('BAD_INPUT', `There is no completion for ${JSON.stringify(shell)}`, {
      hint: `Choose one of: ${SHELLS.join(', ')}.`,
    })
  },
  render: ({ script }) => script,
})
