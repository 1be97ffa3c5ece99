// Creates what a remote needs, or prints the SQL for an administrator who does.
import * as z from 'zod/mini'
import { SavestateError } from '../../model/index.js'
import { schemaSql } from '../../remote/index.js'
import { storeOperation } from '../operation/operation.js'
import { initEntry } from './named-remote.js'
import { findRemote, type RemoteView, viewRemote } from './remotes-file.js'

const CHOICE = { how: 'Name one' }

/** The remote that the store was opened with has no entry, so it has only these two. */
export type InitializedRemote = Pick<RemoteView, 'kind' | 'label'> & Partial<RemoteView>

/** Without a name: the remote that the store was opened with, else the only one. Changes nothing if it is done already. */
export const initRemote = storeOperation({
  name: 'initRemote',
  summary: 'Create the tables or refs of a remote',
  effect: 'changes-store',
  input: () => z.strictObject({ name: z.optional(z.string()) }),
  async run({ home, fleet }, { name }): Promise<InitializedRemote> {
    if (name === undefined && fleet !== undefined) {
      await fleet.remote.init()
      return { kind: fleet.remote.kind, label: fleet.remote.label }
    }
    const entry = findRemote(home, name, CHOICE)
    await initEntry(home, entry)
    return viewRemote(entry)
  },
})

/** Contacts nothing. */
export const initSql = storeOperation({
  name: 'initSql',
  summary: 'Print the SQL that creates the tables of a remote',
  effect: 'reads',
  input: () => z.strictObject({ name: z.optional(z.string()), role: z.optional(z.string()) }),
  async run({ home }, { name, role }): Promise<string> {
    const { name: found, kind, schema } = viewRemote(findRemote(home, name, CHOICE))
    if (kind === 'postgres') return schemaSql({ schema: schema ?? undefined, role })
    throw new SavestateError('BAD_INPUT', 'A remote in a git repository needs no SQL', {
      hint: `Run: savestate remote init ${found}`,
    })
  },
})
