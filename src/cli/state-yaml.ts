// The latest state of a session as one YAML mapping, with how and when the session stands.
import { SavestateError, type Session, type Store } from '../index.js'
import { jsonForm } from './any-classes.js'
import { yamlOf } from './yaml-text.js'

/** Throws BAD_INPUT for a state that is no mapping. */
export async function stateYaml(store: Store, session: Session<unknown>): Promise<string> {
  const view = (await store.sessions()).find(({ id }) => id === session.id)
  const state = (await session.stateAt()) ?? {}
  const { json } = jsonForm(state)
  if (typeof json !== 'object' || json === null || Array.isArray(json) || '$' in json) {
    throw new SavestateError('BAD_INPUT', 'The state is no mapping, so it cannot be one in YAML', {
      hint: 'Use --format json.',
    })
  }
  const mapping: Record<string, unknown> = { ...json }
  return yamlOf({
    ...mapping,
    status: statusOf(mapping['status'], view?.status ?? 'in_progress'),
    updated: view?.updatedAt ?? null,
  })
}

/** How the session ended is certain; while it goes on, the state may have its own word for it. */
function statusOf(own: unknown, status: string): unknown {
  return status === 'in_progress' ? (own ?? status) : status
}
