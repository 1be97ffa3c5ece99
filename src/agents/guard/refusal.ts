// Why a call of a tool is not to run, for the model that asked for it.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Store } from '../../index.js'
import type { AgentEvent } from '../mappers/event.js'
import { mayRewind } from './allowed.js'
import { objectionTo } from './guard.js'

/** Undefined for every event that is no such call. */
export async function refusalOf(
  store: Store,
  event: AgentEvent,
  { cwd }: { readonly cwd?: string | undefined },
): Promise<string | undefined> {
  if (event.type !== 'before-tool') return undefined
  const { agent } = event
  const folder = folderOf(event, cwd)
  const options = { cwd: folder, home: homedir(), storeHome: store.home }
  const objection = objectionTo(event.tool, options)
  if (objection === undefined) return undefined
  if (objection.type === 'store')
    return 'Agents may not access the store of Savestate: the user restores work from it. Nothing was run. Use `savestate list`, `show` and `diff` to read checkpoints.'
  if (objection.type === 'mark')
    return `This command line names ${objection.variable}, by which Savestate recognizes agents, so it was not run. Run savestate without it.`
  if (objection.type === 'too-long')
    return 'This command line is too long to be checked, and it names savestate, so it was not run. Write long texts to files with another tool.'
  const { permission, what } = objection
  if (permission === 'user-only')
    return `The command line contains \`savestate ${what}\`, which only the user may run in this form, so it was not run. Ask the user to run it in their own terminal.`
  if (await mayRewind(store, { agent, folder })) return undefined
  return `The command line contains \`savestate ${what}\`, which can discard work, and the user has not allowed agents to run it, so it was not run. Ask the user to run it in their own terminal; \`--dry-run\` shows what it would do.`
}

/** Where the tool runs, as an absolute path; the daemon's own folder says nothing about that. */
function folderOf(event: AgentEvent, own: string | undefined): string | undefined {
  const told = event.cwd ?? own
  if (told === undefined || isAbsolute(told)) return told
  return own === undefined ? undefined : join(own, told)
}
