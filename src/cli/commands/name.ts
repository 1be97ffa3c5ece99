import { type NameResult, SavestateError } from '../../index.js'
import { command, type Request } from '../runtime/command.js'
import { printable, printableLine } from '../terminal/escape.js'
import { quoteForShell } from '../terminal/shell-quote.js'
import { shortIdOf } from '../terminal/short-id.js'
import { usageOf } from '../args/commands-table.js'

export const run = command({
  async call(request) {
    const project = await request.project()
    return project.name(request.argument(0), wantedName(request), {
      namedBy: request.isAgent ? 'agent' : 'user',
    })
  },
  render: nameText,
})

/** Null to remove the name. */
function wantedName({ positionals, options }: Request): string | null {
  const name = positionals[1]
  const isRemoved = options.has('remove')
  if (name !== undefined && !isRemoved) return name
  if (name === undefined && isRemoved) return null
  const fault = isRemoved ? '--remove takes no NAME' : 'NAME is missing'
  throw new SavestateError('BAD_INPUT', fault, { hint: `Usage: ${usageOf('name')}` })
}

async function nameText(result: NameResult, request: Request): Promise<string> {
  const { name, previousName, sameName, meant } = result
  const own = await shortIdOf(request, result.id)
  if (name === null) {
    if (previousName === null) return `${own} has no name.`
    return `Removed the name ${printable(previousName)} from ${own}. The limits apply to it again, unless it is pinned.`
  }
  const isReplaced = previousName !== null && previousName !== name
  const before = isReplaced ? ` It was named ${printable(previousName)} before.` : ''
  const done = `${own} is now named ${printable(name)}.${before}`
  if (sameName === null) return done
  const other = await shortIdOf(request, sameName)
  const shown = printableLine(name)
  return meant === sameName
    ? `${done}\n${other} has this name too and is newer, so ${shown} means ${other}. To change that: savestate name ${quoteForShell(other)} --remove`
    : `${done}\n${other} has this name too, but is older: ${shown} means ${own}.`
}
