// The configuration that holds: the store's, and on top of it a project's own.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import {
  type BytePath,
  type Config,
  CONFIG_KEYS,
  type ConfigSource,
  fsPath,
  hasCode,
  type Limits,
  limitsFrom,
  parseConfig,
  pathText,
  type Settings,
  settingsFrom,
} from '../model/index.js'
import { projectOperation } from './operation.js'

const STORE_FILE = 'config.json'
export const PROJECT_FILE = '.savestate.json'

export type ConfigResult = {
  readonly files: { readonly store: string; readonly project: string }
  readonly values: readonly {
    readonly key: string
    readonly value: Config[keyof Config]
    readonly source: ConfigSource
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
  const shown = {
    path: pathText(`${path}/${PROJECT_FILE}` as BytePath),
    source: 'project',
  } as const
  const values = text === undefined ? {} : parseConfig(text, shown)
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
  async run({ home, path }): Promise<ConfigResult> {
    const { config: values, sources } = projectSettings(home, path)
    return {
      files: {
        store: join(home, STORE_FILE),
        project: pathText(`${path}/${PROJECT_FILE}` as BytePath),
      },
      values: CONFIG_KEYS.map((key) => ({ key, value: values[key], source: sources[key] })),
    }
  },
})

function storeLayer(home: string): { source: ConfigSource; values: Partial<Config> } {
  const path = join(home, STORE_FILE)
  const text = readIfThere(path)
  const values = text === undefined ? {} : parseConfig(text, { path, source: 'store' })
  return { source: 'store', values }
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
