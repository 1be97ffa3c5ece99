// Why a call of a tool is not to run, for the model that asked for it.
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Store } from '../../index.js'
import type { AgentEvent } from '../agents/event.js'
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
    return 'Savestate keeps its store from agents: it holds what brings the work of the person back. Nothing was run. Use `savestate list`, `show` and `diff` to look at checkpoints.'
  const { need, what } = objection
  if (need === 'always')
    return `\`savestate ${what}\` in this form is for a person alone, so it was not run. Ask the person to run it in a terminal of their own.`
  if (await mayRewind(store, { agent, folder })) return undefined
  return `\`savestate ${what}\` takes work away, and the person has not allowed agents to ask for it, so it was not run. Ask the person to run it in a terminal of their own; \`--dry-run\` shows what it would do.`
}

/** Where the tool runs, as a whole path: of whoever does this work for a hook, the own folder says nothing. */
function folderOf(event: AgentEvent, own: string | undefined): string | undefined {
  const told = event.cwd ?? own
  if (told === undefined || isAbsolute(told)) return told
  return own === undefined ? undefined : join(own, told)
}
