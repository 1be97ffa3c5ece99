import { verifyStore } from '../../index.js'
import { type Command, command } from '../runtime/command.js'
import { EXIT } from '../runtime/exit.js'
import { formatCount } from '../terminal/format-numbers.js'
import { problemLine } from '../render/problem-text.js'
import { verifyRemoteText } from '../render/remote-maintenance-text.js'

export const run: Command = (request) =>
  request.options.has('remote') ? verifyRemote(request) : verifyHere(request)

const verifyRemote = command({
  async call({ store, options, hooks: { signal } }) {
    const remote = options.text('remote') ?? ''
    return (await store()).remotes.verify({
      ...(remote === '' ? {} : { remote }),
      ...(signal === undefined ? {} : { signal }),
    })
  },
  render: (result, { screen }) => verifyRemoteText(result, screen),
  exitCode: ({ problems }) => (problems.length > 0 ? EXIT.failed : EXIT.done),
})

const verifyHere = command({
  // Not through `store`: a store that cannot be opened is checked too.
  call: ({ options, hooks }) =>
    verifyStore({ inProcess: true, quick: options.has('quick'), ...hooks }),
  render({ checkpoints, problems, quick }, { screen }) {
    const checked = `${formatCount(checkpoints, 'checkpoint')} checked${quick ? ' quickly' : ''}`
    const damage = problems.filter(({ severity }) => severity === 'damage')
    const notes = problems.length - damage.length
    const aside = notes === 0 ? '' : ` ${formatCount(notes, 'note')}.`
    const verdict =
      damage.length === 0
        ? `${checked}: the store is intact.${aside}`
        : `${checked}: ${formatCount(damage.length, 'problem')}.${aside}`
    return [verdict, ...problems.map((problem) => problemLine(problem, screen))].join('\n')
  },
  note: ({ problems }) =>
    problems.some(({ severity, repairable }) => severity === 'damage' && repairable)
      ? 'To repair it: savestate repair'
      : undefined,
  exitCode: ({ problems }) =>
    problems.some(({ severity }) => severity === 'damage') ? EXIT.failed : EXIT.done,
})
