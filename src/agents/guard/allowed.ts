// Records which agents the user allows to rewind. `savestate install <agent> --allow-agent-rewind` sets it in the store,
// which agents may not access; an install without the flag or an uninstall revokes it.
import { type AgentName, fieldsOf, isWithin, tryParseJson } from '../../base/index.js'
import type { Store } from '../../index.js'
import type { Scope } from '../install/config-paths.js'

/** `root` null: in all projects. */
type Allowed = { readonly agent: string; readonly root: string | null }

const KEY = 'agents:allow-rewind'

/** Whether the agent may rewind in the folder. Without a folder, only a permission for all projects counts. */
export async function mayRewind(
  store: Store,
  { agent, folder }: { readonly agent: AgentName; readonly folder: string | undefined },
): Promise<boolean> {
  const all = parseAllowed(await store.note(KEY))
  return all.some(
    (one) =>
      one.agent === agent &&
      (one.root === null || (folder !== undefined && isWithin(one.root, folder))),
  )
}

export type Permission = { readonly agent: AgentName; readonly scope: Scope }

export async function isAllowed(store: Store, permission: Permission): Promise<boolean> {
  return parseAllowed(await store.note(KEY)).some((one) => isSame(one, permission))
}

export async function setAllowed(
  store: Store,
  permission: Permission,
  { isAllowed: wanted }: { readonly isAllowed: boolean },
): Promise<void> {
  const { agent, scope } = permission
  const one: Allowed = { agent, root: scope.type === 'project' ? scope.root : null }
  await store.changeNote({
    key: KEY,
    change(before) {
      const others = parseAllowed(before).filter((known) => !isSame(known, permission))
      const all = wanted ? [...others, one] : others
      return all.length === 0 ? undefined : JSON.stringify(all)
    },
  })
}

function isSame({ agent, root }: Allowed, { agent: other, scope }: Permission): boolean {
  return agent === other && root === (scope.type === 'project' ? scope.root : null)
}

/** A malformed entry allows nothing. */
function parseAllowed(text: string | undefined): readonly Allowed[] {
  const list = tryParseJson(text)
  return (Array.isArray(list) ? list : []).flatMap((item: unknown) => {
    const { agent, root } = fieldsOf(item)
    const isWhole = typeof agent === 'string' && (root === null || typeof root === 'string')
    return isWhole ? [{ agent, root }] : []
  })
}
