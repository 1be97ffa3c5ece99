// The exit code of a hook that failed or could not print its answer. Agents take exit code 2 as a refusal of the tool call,
// and some take any code but 0 that way.
import { AGENT_NAMES } from '../../base/index.js'
import { EXIT } from '../runtime/exit.js'
import type { Parsed } from '../args/parse.js'

/** Changes only the exit codes of failed hooks. */
export async function exitCodeOf(parsed: Parsed, code: number): Promise<number> {
  if (parsed.command !== 'hook' || (code !== EXIT.failed && code !== EXIT.bug)) return code
  // Wrong arguments: the author of this command line must see an error.
  if (parsed.fault !== undefined) return EXIT.declined
  return (await mustStopTool(parsed)) ? EXIT.failed : EXIT.done
}

/** A strict hook lets no tool run after a failure, because the folder may not be saved. */
async function mustStopTool({ positionals, options }: Parsed): Promise<boolean> {
  if (!options.has('strict')) return false
  const { isBeforeTool } = await import('../../agents/index.js')
  const [name, eventName = ''] = positionals
  const agent = AGENT_NAMES.find((one) => one === name)
  return agent !== undefined && isBeforeTool(agent, eventName)
}
