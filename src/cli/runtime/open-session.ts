// Opens sessions by their id.
import { isKnownSession, type Session, type Store } from '../../internal.js'
import type { Request } from './command.js'

/** Read-only: works while an agent writes to it. Throws SESSION_UNKNOWN. */
export async function sessionToRead(store: Store, id: string): Promise<Session<unknown>> {
  return store.session(id, { create: false, lease: false })
}

/** The folder of its project; null if it has none. */
export async function folderOf(store: Store, id: string): Promise<string | null> {
  return (await store.sessions()).find((session) => session.id === id)?.project ?? null
}

/** Writes to a session of this project, and creates it if needed. A new session without a checkpoint is removed again. */
export async function inSession<Result>(
  request: Request,
  id: string,
  work: (session: Session<unknown>) => Promise<Result>,
): Promise<Result> {
  const [store, project] = [await request.store(), await request.project()]
  const isNew = !(await isKnownSession(store, id))
  const session = await store.session<unknown>(id, { project })
  try {
    return await work(session)
  } finally {
    if (isNew && (await session.latest()) === undefined) await session.delete()
    else await session.close()
  }
}
