// A command that only a person may ask for, in a shell of an agent: refused, unless the person has allowed it. The
// hooks refuse it before it is run; this is for scripts in which they do not see it, and for agents without our hooks.
import { guard } from '../adapters/index.js'
import { SavestateError } from '../index.js'
import type { AgentMark } from './agent-mark.js'
import type { Request } from './command.js'

/** Throws NEEDS_PERSON. */
export async function refuseAgent(request: Request, { variable, agent }: AgentMark): Promise<void> {
  const { command, positionals, options } = request
  if (command === undefined) return
  const { mayRewind, personNeed } = await guard()
  const need = personNeed({ command, action: positionals[0], has: (name) => options.has(name) })
  if (need === undefined) return
  const mayBeAllowed = need === 'unless-allowed' && agent !== undefined
  if (mayBeAllowed) {
    const { path: folder } = await request.project()
    if (await mayRewind(await request.store(), { agent, folder })) return
  }
  const allow = mayBeAllowed
    ? `\nTo allow ${agent} to do it: savestate install ${agent} --allow-agent-rewind`
    : ''
  throw new SavestateError(
    'NEEDS_PERSON',
    `Only a user may run this command, and an agent has started it (${variable} is set). Nothing has been changed`,
    { hint: `Run it in your own terminal.${allow}` },
  )
}
