// The latest state of a session as one YAML mapping, with the status and time of the session.
import { isRecord } from '../../base/index.js'
import { SavestateError, type Session, type Store } from '../../index.js'
import { jsonForm, valueOf } from '../runtime/opaque-classes.js'

/** The first line of a text with tags. A comment, so that no key of the state can collide with it. */
const MARK = '# tagged: true\n'

/** Throws BAD_INPUT if the state is not a mapping. */
export async function stateYaml(store: Store, session: Session<unknown>): Promise<string> {
  const view = (await store.sessions()).find(({ id }) => id === session.id)
  const state = (await session.stateAt()) ?? {}
  if (!isRecord(state) || Object.getPrototypeOf(state) !== Object.prototype) {
    const message = 'The state is not a mapping, so it cannot be written as YAML'
    throw new SavestateError('BAD_INPUT', message, { hint: 'Use --format json.' })
  }
  const { json, isPlain } = jsonForm(state)
  const mapping: Record<string, unknown> = { ...Object(json) }
  const { formatYaml } = await import('../../yaml/index.js')
  const text = formatYaml({
    ...mapping,
    status: statusOf(mapping['status'], view?.status ?? 'in_progress'),
    updated: view?.updatedAt.toISOString() ?? null,
  })
  return isPlain ? text : MARK + text
}

/** The reverse, for a mapping that was parsed from the text. */
export function stateOfYaml(text: string, mapping: Record<string, unknown>): unknown {
  if (!text.startsWith(MARK)) return mapping
  const { $: whole, status, updated, ...keys } = mapping
  // A state with its own key $ is tagged as a whole.
  const json = whole === undefined ? { ...keys, status } : { $: whole }
  return { status, ...Object(valueOf(json)), updated }
}

/** The status of an ended session wins; before that, the state may have its own. */
function statusOf(own: unknown, status: string): unknown {
  return status === 'in_progress' ? (own ?? status) : status
}
