// Changes one setting in a file of settings. The other settings, their order and the indentation stay as they are.
import { lstatSync, readFileSync, unlinkSync } from 'node:fs'
import {
  type ConfigFile,
  fsPath,
  isConfigKey,
  parseConfigObject,
  SavestateError,
  settingFault,
} from '../model/index.js'
import { takeLock, writeFileAtomically } from '../system/index.js'
import { configLockPath, type ProjectContext, type StoreContext } from './context.js'
import { projectConfigFile, storeConfigFile } from './settings.js'

/** Without a value the setting is removed, and with its last setting a project's file. */
export type SettingChange = { readonly key: string; readonly value?: unknown }

const PRIVATE = 0o600
const SHARED = 0o644
const WAIT_MS = 10_000

export async function setStoreConfig({ home }: StoreContext, change: SettingChange): Promise<void> {
  const file = storeConfigFile(home)
  await changeAlone(home, { file, path: file.path, newMode: PRIVATE }, change)
}

export async function setProjectConfig(
  { home, path }: ProjectContext,
  change: SettingChange,
): Promise<void> {
  const { file, bytePath } = projectConfigFile(path)
  const fsName = fsPath(bytePath)
  if (typeof fsName !== 'string')
    throw new SavestateError('BAD_INPUT', `The path ${file.path} is not valid UTF-8`, {
      hint: 'Change the file in an editor.',
    })
  await changeAlone(home, { file, path: fsName, newMode: SHARED }, change)
}

type Target = { readonly file: ConfigFile; readonly path: string; readonly newMode: number }

/** Two at once would each write the file as it was, with its own change only. */
async function changeAlone(home: string, ...given: Parameters<typeof changeFile>): Promise<void> {
  const path = configLockPath(home)
  const lock = await takeLock(path, { waitMs: WAIT_MS, purpose: 'config' })
  if (lock === undefined)
    throw new SavestateError('STORE_BUSY', 'Another process is changing settings', {
      hint: 'Run the command again.',
    })
  try {
    changeFile(...given)
  } finally {
    lock.release()
  }
}

/** Throws BAD_INPUT for a value that the file cannot have, and CONFIG_INVALID for a file that is not JSON. */
function changeFile({ file, path, newMode }: Target, { key, value }: SettingChange): void {
  const isSet = value !== undefined
  const fault = isSet ? settingFault(key, value, file.source) : undefined
  if (fault !== undefined) throw refused(key, fault)
  const stats = lstatSync(path, { throwIfNoEntry: false })
  // To write through a link could write outside of the project (I4).
  if (stats !== undefined && !stats.isFile())
    throw new SavestateError('CONFIG_INVALID', `${file.path} is not a regular file`, {
      hint: 'Edit the file that it leads to, or replace it with a regular file.',
    })
  if (stats === undefined && !isSet) return
  const text = stats === undefined ? '{}' : readFileSync(path, 'utf8')
  const settings = new Map(Object.entries(parseConfigObject(text, file)))
  if (isSet) settings.set(key, value)
  else settings.delete(key)
  if (settings.size === 0 && file.source === 'project') return unlinkSync(path)
  const indent = /^\{\s*\n([ \t]+)/.exec(text)?.[1] ?? '  '
  const content = `${JSON.stringify(Object.fromEntries(settings), undefined, indent)}\n`
  const mode = stats === undefined ? newMode : stats.mode & 0o777
  writeFileAtomically({ path, content, durable: true, mode })
}

function refused(
  key: string,
  { what, ...hint }: NonNullable<ReturnType<typeof settingFault>>,
): SavestateError {
  const message = isConfigKey(key) ? what : `There is no setting ${JSON.stringify(key)}`
  return new SavestateError('BAD_INPUT', message, hint)
}
