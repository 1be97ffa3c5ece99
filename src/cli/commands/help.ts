import { command } from '../runtime/command.js'
import { helpText } from '../args/help.js'
import { unknownCommand } from '../args/parse-errors.js'
import { findCommand } from '../args/commands-table.js'

export const run = command({
  async call({ positionals, screen }) {
    const [word] = positionals
    const name = word === undefined ? undefined : findCommand(word)
    if (word !== undefined && name === undefined) {
      const { SavestateError } = await import('../../index.js')
      throw new SavestateError('BAD_INPUT', unknownCommand(word), {
        hint: '`savestate help` lists the commands.',
      })
    }
    return { help: helpText(name, screen) }
  },
  render: ({ help }) => help,
})
