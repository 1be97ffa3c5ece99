// The latest state of a session as one YAML mapping, with how and when the session stands.
import { isRecord } from '../../base/index.js'
import { SavestateError, type Session, type Store } from '../../index.js'
import { jsonForm, valueOf } from '../runtime/opaque-classes.js'

/** The first line of a text with tags in it. Beside the state, so that no key of the state can be taken for it. */
const MARK = '# tagged: true\n'

/** Throws BAD_INPUT for a state that is no mapping. */
export async function stateYaml(store: Store, session: Session<unknown>): Promise<string> {
  const view = (await store.sessions()).find(({ id }) => id === session.id)
  const state = (await session.stateAt()) ?? {}
  if (!isRecord(state) || Object.getPrototypeOf(state) !== Object.prototype) {
    throw new SavestateError(
      'BAD_INPUT',
      'The state is not a mapping, so it cannot be written as YAML',
      {
        hint: 'Use --format json.',
      },
    )
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

/** The state of a mapping that was read from such a text. */
export function stateOfYaml(text: string, mapping: Record<string, unknown>): unknown {
  if (!text.startsWith(MARK)) return mapping
  const { $: whole, status, updated, ...keys } = mapping
  // A state that has a key $ of its own is a tag as a whole.
  const json = whole === undefined ? { ...keys, status } : { $: whole }
  return { status, ...Object(valueOf(json)), updated }
}

/** How the session ended is certain; while it goes on, the state may have its own word for it. */
function statusOf(own: unknown, status: string): unknown {
  return status === 'in_progress' ? (own ?? status) : status
}
