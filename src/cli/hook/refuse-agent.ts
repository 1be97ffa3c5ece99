// Refuses a command that only the user may run if an agent has started it. The guard in the hooks refuses it before it is
// run; this check catches scripts that the guard does not see, and agents without our hooks.
import { agentPermission } from '../../base/index.js'
import { guard } from '../../agents/index.js'
import { SavestateError } from '../../index.js'
import type { AgentMark } from '../runtime/request.js'
import type { Request } from '../runtime/command.js'

/** Throws NEEDS_PERSON. */
export async function refuseAgent(request: Request, { variable, agent }: AgentMark): Promise<void> {
  const { command, positionals, options } = request
  if (command === undefined) return
  const call = { command, action: positionals[0], has: (name: string) => options.has(name) }
  const permission = agentPermission(call)
  if (permission === 'free') return
  const mayBeAllowed = permission === 'by-switch' && agent !== undefined
  if (mayBeAllowed) {
    const { mayRewind } = await guard()
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
