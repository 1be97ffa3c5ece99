import { command } from '../command.js'
import { EXIT } from '../exit.js'
import { counted } from '../figures.js'
import { printable } from '../printable.js'

export const run = command({
  call: async ({ store, hooks }) => (await store()).verify(hooks),
  render({ checkpoints, problems }, { screen }) {
    const checked = `${counted(checkpoints, 'checkpoint')} checked`
    if (problems.length === 0) return `${checked}: the store is whole.`
    return [
      `${checked}: ${counted(problems.length, 'problem')}.`,
      ...problems.map(({ kind, message, checkpoint }) => {
        const where = checkpoint === null ? '' : ` (checkpoint ${checkpoint})`
        return `  ${screen.paint('red', kind)}: ${printable(message)}${where}`
      }),
    ].join('\n')
  },
  exitCode: ({ problems }) => (problems.length === 0 ? EXIT.done : EXIT.failed),
})
