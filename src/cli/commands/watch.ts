// Saves while the user works. Prints each checkpoint when it is made.
import type { Command } from '../runtime/command.js'
import { endOnSignals, EXIT } from '../runtime/exit.js'
import { formatCount, formatLines } from '../terminal/format-numbers.js'
import { shortIdOf } from '../terminal/short-id.js'

const SECOND_MS = 1000

export const run: Command = async (request) => {
  const { screen, isJson, options, hooks, bar } = request
  const signal = endOnSignals()
  const project = await request.project()
  const { autoSave } = await import('../../index.js')
  const { displayPath } = await import('../terminal/escape.js')
  const quiet = options.number('quiet')
  const reason = options.text('message')
  if (!isJson) screen.note(`Watching ${displayPath(project.path)}. Stop with Ctrl-C.`)
  let printed = Promise.resolve()
  await autoSave(project, {
    ...hooks,
    signal,
    ...(quiet === undefined ? {} : { quietMs: quiet * SECOND_MS }),
    ...(reason === undefined ? {} : { reason }),
    onSaved(saved) {
      printed = printed.then(async () => {
        bar.erase()
        if (isJson) {
          screen.print(JSON.stringify(saved))
          return
        }
        const id = await shortIdOf(request, saved.id)
        const time = new Date(saved.createdAt).toLocaleTimeString('en-GB')
        screen.print(`${time}  ${id}  ${formatCount(saved.files, 'file')} ${formatLines(saved)}`)
      })
    },
  })
  await printed
  return EXIT.done
}
