// Changes one setting in a settings file. Keeps the other settings, their order and the indentation.
import { lstatSync, readFileSync, unlinkSync } from 'node:fs'
import {
  type ConfigFile,
  fsPath,
  isConfigKey,
  parseConfigObject,
  SavestateError,
  settingFault,
} from '../../model/index.js'
import { writeFileAtomically } from '../../system/index.js'
import { withConfigLock } from './config-lock.js'
import type { ProjectContext, StoreContext } from '../operation/context.js'
import { PROJECT_FILE, trustFiles } from '../projects/project-trust.js'
import { projectConfigFile, storeConfigFile, untrustedFiles } from './settings.js'

/** Without a value the setting is removed; a project's file is removed with its last setting. */
export type SettingChange = { readonly key: string; readonly value?: unknown }

const PRIVATE = 0o600
const SHARED = 0o644

export async function setStoreConfig({ home }: StoreContext, change: SettingChange): Promise<void> {
  const file = storeConfigFile(home)
  await withConfigLock(home, () => changeFile({ file, path: file.path, newMode: PRIVATE }, change))
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
  const ofSettings = () => untrustedFiles(home, path).filter((it) => it.file === PROJECT_FILE)
  const wasHonored = ofSettings().length === 0
  await withConfigLock(home, () => changeFile({ file, path: fsName, newMode: SHARED }, change))
  // The user just asked for this change. Earlier untrusted requests in the file still need the user's trust.
  if (wasHonored) await trustFiles(home, path, ofSettings())
}

type Target = { readonly file: ConfigFile; readonly path: string; readonly newMode: number }

/** Throws BAD_INPUT for a value that the file cannot have, and CONFIG_INVALID for a file that is not JSON. */
function changeFile({ file, path, newMode }: Target, { key, value }: SettingChange): void {
  const isSet = value !== undefined
  const fault = isSet ? settingFault(key, value, file.source) : undefined
  if (fault !== undefined) throw invalidSettingError(key, fault)
  const stats = lstatSync(path, { throwIfNoEntry: false })
  // Writing through a link could write outside the project (I4).
  if (stats !== undefined && !stats.isFile())
    throw new SavestateError('CONFIG_INVALID', `${file.path} is not a regular file`, {
      hint: 'Edit the file that it points to, or replace it with a regular file.',
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

function invalidSettingError(
  key: string,
  { what, ...hint }: NonNullable<ReturnType<typeof settingFault>>,
): SavestateError {
  const message = isConfigKey(key) ? what : `There is no setting ${JSON.stringify(key)}`
  return new SavestateError('BAD_INPUT', message, hint)
}
