// The configuration that holds: the store's, and on top of it a project's own.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import {
  type BytePath,
  type Config,
  CONFIG_KEYS,
  type ConfigFile,
  type ConfigSource,
  fsPath,
  hasCode,
  type Limits,
  limitsFrom,
  parseConfig,
  pathText,
  type Settings,
  doesCount,
  settingsFrom,
} from '../model/index.js'
import type { StoreContext } from './context.js'
import { projectOperation } from './operation.js'

const STORE_FILE = 'config.json'
export const PROJECT_FILE = '.savestate.json'

export type ConfigResult = {
  /** Without a project null. */
  readonly files: { readonly store: string; readonly project: string | null }
  readonly values: readonly {
    readonly key: string
    readonly value: Config[keyof Config]
    readonly source: ConfigSource
    /** False: it counts under another retention policy only. */
    readonly counts: boolean
  }[]
}

export function storeSettings(home: string): Settings {
  return settingsFrom([storeLayer(home)])
}

export function projectSettings(home: string, path: BytePath): Settings {
  return settingsWith(home, { path, text: readIfThere(fsPath(`${path}/${PROJECT_FILE}`)) })
}

/** With what the project's own file says; undefined if it has none. */
export function settingsWith(
  home: string,
  { path, text }: { readonly path: BytePath; readonly text: string | undefined },
): Settings {
  const values = text === undefined ? {} : parseConfig(text, projectConfigFile(path).file)
  return settingsFrom([storeLayer(home), { source: 'project', values }])
}

export function limitsOf(home: string, path: BytePath): Limits {
  return limitsFrom(projectSettings(home, path).config)
}

export const config = projectOperation({
  name: 'config',
  summary: 'Show every setting and where it comes from',
  effect: 'reads',
  input: () => z.strictObject({}),
  run: async ({ home, path }) =>
    describeSettings(projectSettings(home, path), {
      store: storeConfigFile(home).path,
      project: projectConfigFile(path).file.path,
    }),
})

/** The same where no project is: without what a project could set. */
export function storeConfig({ home }: StoreContext): ConfigResult {
  const files = { store: storeConfigFile(home).path, project: null }
  return describeSettings(storeSettings(home), files)
}

function describeSettings(
  { config: values, sources }: Settings,
  files: ConfigResult['files'],
): ConfigResult {
  const described = CONFIG_KEYS.map((key) => ({
    key,
    value: values[key],
    source: sources[key],
    counts: doesCount(key, values.retention),
  }))
  return { files, values: described }
}

function storeLayer(home: string): { source: ConfigSource; values: Partial<Config> } {
  const file = storeConfigFile(home)
  const text = readIfThere(file.path)
  return { source: 'store', values: text === undefined ? {} : parseConfig(text, file) }
}

export function storeConfigFile(home: string): ConfigFile {
  return { path: join(home, STORE_FILE), source: 'store' }
}

export function projectConfigFile(path: BytePath): {
  readonly file: ConfigFile
  readonly bytePath: BytePath
} {
  const bytePath = `${path}/${PROJECT_FILE}` as BytePath
  return { file: { path: pathText(bytePath), source: 'project' }, bytePath }
}

/** A pipe or a device of that name is none of ours, and reading it could take for ever. */
function readIfThere(path: string | Buffer): string | undefined {
  try {
    if (!isFile(path)) return undefined
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** A folder that cannot be entered has no settings; that it cannot be is for its capture to say. */
function isFile(path: string | Buffer): boolean {
  try {
    // Most projects have none: an error thrown and caught takes longer than the look.
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true
  } catch (error) {
    if (hasCode(error, 'EACCES')) return false
    throw error
  }
}
