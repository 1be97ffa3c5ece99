// The settings in effect: those of the store, overridden by what a project's own files may change (model/settings/config.ts).
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import {
  type BytePath,
  type CaptureLimits,
  type Config,
  CONFIG_KEYS,
  type ConfigFile,
  type ConfigSource,
  type ErrorCode,
  explainSystemError,
  fsPath,
  hasCode,
  limitsFrom,
  parseConfig,
  pathText,
  SavestateError,
  type Settings,
  appliesToPolicy,
  settingsFrom,
} from '../../model/index.js'
import { secretLines } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import {
  hashOf,
  IGNORE_FILE,
  isTrusted,
  PROJECT_FILE,
  type SeenFile,
} from '../projects/project-trust.js'

const STORE_FILE = 'config.json'

export type ConfigResult = {
  readonly files: { readonly store: string; readonly project: string | null }
  readonly values: readonly {
    readonly key: string
    readonly value: Config[keyof Config]
    readonly source: ConfigSource
    /** False: only another retention policy uses it. */
    readonly counts: boolean
  }[]
  /** Files of the project with requests that take effect only once the user trusts them. */
  readonly untrusted: readonly UntrustedFile[]
}

export type UntrustedFile = SeenFile & {
  /** Such as `maxCheckpoints 1` or `!.env`. */
  readonly asks: readonly string[]
}

export function storeSettings(home: string): Settings {
  return settingsFrom(storeValues(home))
}

export function projectSettings(home: string, path: BytePath): Settings {
  return settingsWith(home, { path, text: readIfThere(fsPath(`${path}/${PROJECT_FILE}`), 'utf8') })
}

/** `text`: the content of the project's own file; undefined if it has none. */
export function settingsWith(
  home: string,
  { path, text }: { readonly path: BytePath; readonly text: string | undefined },
): Settings {
  const store = storeValues(home)
  if (text === undefined) return settingsFrom(store)
  const values = parseConfig(text, projectConfigFile(path).file)
  const seen = { file: PROJECT_FILE, sha256: hashOf(text) }
  const untrusted = settingsFrom(store, { values, isTrusted: false })
  if (untrusted.refused.length === 0 || !isTrusted(home, path, seen)) return untrusted
  return settingsFrom(store, { values, isTrusted: true })
}

export function limitsOf(home: string, path: BytePath): CaptureLimits {
  const limits = limitsFrom(projectSettings(home, path).config)
  const ignore = ignoreRequest(path)
  const isHonored = ignore !== undefined && isTrusted(home, path, ignore)
  return isHonored ? { ...limits, trustedIgnore: ignore.text } : limits
}

/** The files of a project whose requests are refused for lack of trust. Throws CONFIG_INVALID. */
export function untrustedFiles(home: string, path: BytePath): UntrustedFile[] {
  const text = readIfThere(fsPath(`${path}/${PROJECT_FILE}`), 'utf8')
  const asked = projectSettings(home, path).refused.map(
    ({ key, asked: value }) => `${key} ${JSON.stringify(value)}`,
  )
  const ignore = ignoreRequest(path)
  return [
    ...(text === undefined || asked.length === 0
      ? []
      : [{ file: PROJECT_FILE, sha256: hashOf(text), asks: asked }]),
    ...(ignore === undefined || isTrusted(home, path, ignore)
      ? []
      : [{ file: ignore.file, sha256: ignore.sha256, asks: ignore.asks }]),
  ]
}

/** For overviews of all projects: the next save or prune reports invalid or unreadable settings. */
export function untrustedIfReadable(home: string, path: BytePath): UntrustedFile[] {
  try {
    return untrustedFiles(home, path)
  } catch (error) {
    if (settingsFault(error) === undefined) throw error
    return []
  }
}

/** Undefined unless the error says that settings are invalid or unreadable. */
export function settingsFault(error: unknown): SavestateError | undefined {
  const fault = explainSystemError(error)
  return fault instanceof SavestateError && FAULTS.includes(fault.code) ? fault : undefined
}

const FAULTS: readonly ErrorCode[] = ['CONFIG_INVALID', 'FILE_FAILED']

/** Lines of the project's `.savestateignore` that take effect only if the user trusts the file. */
function ignoreRequest(path: BytePath): (UntrustedFile & { readonly text: string }) | undefined {
  // One character per byte, as the rules are compiled.
  const text = readIfThere(fsPath(`${path}/${IGNORE_FILE}`), 'latin1')
  const asks = text === undefined ? [] : secretLines(text)
  if (text === undefined || asks.length === 0) return undefined
  return { file: IGNORE_FILE, sha256: hashOf(text), asks, text }
}

export const config = projectOperation({
  name: 'config',
  summary: 'Show every setting and where it comes from',
  effect: 'reads',
  input: () => z.strictObject({}),
  run: async ({ home, path }) =>
    describeSettings(projectSettings(home, path), {
      files: {
        store: storeConfigFile(home).path,
        project: projectConfigFile(path).file.path,
      },
      untrusted: untrustedFiles(home, path),
    }),
})

/** Like `config`, outside any project. */
export function storeConfig({ home }: Pick<StoreContext, 'home'>): ConfigResult {
  const files = { store: storeConfigFile(home).path, project: null }
  return describeSettings(storeSettings(home), { files, untrusted: [] })
}

function describeSettings(
  { config: values, sources }: Settings,
  rest: Pick<ConfigResult, 'files' | 'untrusted'>,
): ConfigResult {
  const described = CONFIG_KEYS.map((key) => ({
    key,
    value: values[key],
    source: sources[key],
    counts: appliesToPolicy(key, values.retention),
  }))
  return { ...rest, values: described }
}

function storeValues(home: string): Partial<Config> {
  const file = storeConfigFile(home)
  const text = readIfThere(file.path, 'utf8')
  return text === undefined ? {} : parseConfig(text, file)
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

/** Ignores pipes and devices: reading one could block forever. */
function readIfThere(path: string | Buffer, encoding: BufferEncoding): string | undefined {
  try {
    if (!isFile(path)) return undefined
    return readFileSync(path, encoding)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** False if the folder is not accessible: the capture reports that. */
function isFile(path: string | Buffer): boolean {
  try {
    // Most projects have no such file, and throwing is slower than `stat`.
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true
  } catch (error) {
    if (hasCode(error, 'EACCES')) return false
    throw error
  }
}
