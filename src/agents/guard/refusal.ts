// Explains to the model why a tool call was refused.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Store } from '../../index.js'
import type { AgentEvent } from '../mappers/event.js'
import { mayRewind } from './allowed.js'
import { findObjection } from './guard.js'

/** Undefined if the tool may run, or for any other event. */
export async function findRefusal(
  store: Store,
  event: AgentEvent,
  { cwd }: { readonly cwd?: string | undefined },
): Promise<string | undefined> {
  if (event.type !== 'before-tool') return undefined
  const { agent } = event
  const folder = toolFolder(event, cwd)
  const options = { cwd: folder, home: homedir(), storeHome: store.home }
  const objection = findObjection(event.tool, options)
  if (objection === undefined) return undefined
  if (objection.type === 'store')
    return 'Agents may not access the store of Savestate, so this was not run. Use `savestate list`, `show` and `diff` to read checkpoints.'
  if (objection.type === 'mark')
    return `This command line sets or reads ${objection.variable}, by which Savestate recognizes agents, so it was not run. Run savestate without it.`
  if (objection.type === 'too-long')
    return 'This command line contains savestate and is too long to be checked, so it was not run. Write long texts to files with another tool.'
  const { permission, what } = objection
  if (permission === 'user-only')
    return `The command line contains \`savestate ${what}\`, which only the user may run in this form, so it was not run. Ask the user to run it in their own terminal.`
  if (await mayRewind(store, { agent, folder })) return undefined
  return `The command line contains \`savestate ${what}\`, which can discard work, and the user has not allowed agents to run it, so it was not run. Ask the user to run it in their own terminal; \`--dry-run\` shows what it would do.`
}

/** The folder that the tool runs in, as an absolute path. The current folder of this process may be the daemon's. */
function toolFolder(event: AgentEvent, own: string | undefined): string | undefined {
  const cwd = event.cwd ?? own
  if (cwd === undefined || isAbsolute(cwd)) return cwd
  return own === undefined ? undefined : join(own, cwd)
}
