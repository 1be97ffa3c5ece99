// What a hook ends with when it could not do or not say what it had to. To an agent our usual 2 means that its tool must
// not run, and some take any code but 0 for that.
import { AGENT_NAMES } from '../../base/index.js'
import { EXIT } from '../runtime/exit.js'
import type { Parsed } from '../args/parse.js'

/** The exit code of the program for what its command came to. */
export async function exitCodeOf(parsed: Parsed, code: number): Promise<number> {
  if (parsed.command !== 'hook' || (code !== EXIT.failed && code !== EXIT.bug)) return code
  // No event could be known by it: whoever has written the line is to see that it is wrong.
  if (parsed.fault !== undefined) return EXIT.declined
  return (await isToStop(parsed)) ? EXIT.failed : EXIT.done
}

/** What was saved and what was heard is not known any more: a strict hook lets no tool run on that. */
async function isToStop({ positionals, options }: Parsed): Promise<boolean> {
  if (!options.has('strict')) return false
  const { isBeforeTool } = await import('../../agents/index.js')
  const [name, eventName = ''] = positionals
  const agent = AGENT_NAMES.find((one) => one === name)
  return agent !== undefined && isBeforeTool(agent, eventName)
}
