// Adds, lists, changes and removes remotes. Contacts none of them.
import { rmSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import * as z from 'zod/mini'
import { parseRemoteUrl, SavestateError } from '../../model/index.js'
import { storeOperation } from '../operation/operation.js'
import { readOrMakeKey } from '../store/key-file.js'
import { copiesFolder } from './named-remote.js'
import { forgetPushes } from './transfer/push-record.js'
import {
  addRemoteEntry,
  readRemotes,
  refuseBadEntry,
  refuseBadName,
  refuseKnownName,
  type RemoteEntry,
  removeRemoteEntry,
  type RemoteView,
  setAutoPush,
  viewRemote,
} from './remotes-file.js'

export type AddedRemote = RemoteView & {
  /** The key file did not exist, and was created. */
  readonly isKeyNew: boolean
}

export const addRemote = storeOperation({
  name: 'addRemote',
  summary: 'Add a remote to the store',
  effect: 'changes-store',
  input: () =>
    z.strictObject({
      name: z.string(),
      url: z.string(),
      keyFile: z.optional(z.string()),
      plain: z.optional(z.boolean()),
      schema: z.optional(z.string()),
      autoPush: z.optional(z.boolean()),
    }),
  async run(
    { home, clock },
    { name, url, keyFile, plain, schema, autoPush },
  ): Promise<AddedRemote> {
    if ((keyFile === undefined) === (plain !== true))
      throw new SavestateError('BAD_INPUT', 'Say whether the remote is encrypted', {
        hint: 'With --key-file FILE everything is encrypted before it leaves this machine; the file is created if there is none. With --plain nothing is.',
      })
    if (keyFile !== undefined && !isAbsolute(keyFile))
      throw new SavestateError('BAD_INPUT', 'The path of the key file must be absolute')
    refuseBadName(name)
    const address = parseRemoteUrl(url)
    const entry: RemoteEntry = {
      name,
      url: address.url,
      keyFile: keyFile ?? null,
      schema: schema ?? address.schema,
      autoPush: autoPush ?? false,
      id: null,
    }
    refuseBadEntry(entry)
    // Before a key file is created for nothing.
    refuseKnownName(home, name)
    const { isNew: isKeyNew } =
      entry.keyFile === null ? { isNew: false } : readOrMakeKey(entry.keyFile, { home, clock })
    await addRemoteEntry(home, entry)
    return { ...viewRemote(entry), isKeyNew }
  },
})

export const listRemotes = storeOperation({
  name: 'listRemotes',
  summary: 'List the remotes of the store',
  effect: 'reads',
  input: () => z.strictObject({}),
  run: async ({ home }): Promise<readonly RemoteView[]> => readRemotes(home).map(viewRemote),
})

export const setRemote = storeOperation({
  name: 'setRemote',
  summary: 'Change whether the daemon pushes to a remote',
  effect: 'changes-store',
  input: () => z.strictObject({ name: z.string(), autoPush: z.boolean() }),
  run: async ({ home }, given): Promise<RemoteView> => viewRemote(await setAutoPush(home, given)),
})

export const removeRemote = storeOperation({
  name: 'removeRemote',
  summary: 'Forget a remote; what it has stays there',
  effect: 'changes-store',
  input: () => z.strictObject({ name: z.string() }),
  async run(context, { name }): Promise<RemoteView> {
    const removed = await removeRemoteEntry(context.home, name)
    forgetPushes(context, name)
    // The names of the copies are those of the driver.
    if (!readRemotes(context.home).some((it) => viewRemote(it).kind === 'git'))
      rmSync(copiesFolder(context.home), { recursive: true, force: true })
    return viewRemote(removed)
  },
})
