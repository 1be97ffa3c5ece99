// What a person can set, in the store's config.json or in a project's .savestate.json. Pure: reading is done
// elsewhere.
import { SavestateError } from './errors.js'
import type { Limits } from './limits.js'

export type Config = {
  /** Automatic checkpoints of a project; what is named, pinned or of an unfinished session comes on top. */
  readonly maxCheckpoints: number
  /** The whole store. */
  readonly maxSizeMb: number
  /** Larger files are left out of checkpoints. */
  readonly maxFileMb: number
  /** A project with more files is refused. */
  readonly maxFiles: number
  /** How long a project or session stays without a touch. */
  readonly retentionDays: number
  /** The same for completed sessions. */
  readonly completedRetentionDays: number
  readonly autoPrune: boolean
  readonly autoPruneHours: number
  /** Whether the hooks of agents start the daemon. */
  readonly daemon: boolean
  /** The daemon ends after so long without a request. */
  readonly daemonIdleMinutes: number
  /** Patterns of files that are kept although they look like secrets. */
  readonly allowSecrets: readonly string[]
}

export type ConfigKey = keyof Config
export type ConfigSource = 'default' | 'store' | 'project'

export const DEFAULT_CONFIG: Config = {
  maxCheckpoints: 20,
  maxSizeMb: 500,
  maxFileMb: 10,
  maxFiles: 200_000,
  retentionDays: 7,
  completedRetentionDays: 1,
  autoPrune: true,
  autoPruneHours: 24,
  daemon: true,
  daemonIdleMinutes: 30,
  allowSecrets: [],
}

export const CONFIG_KEYS = Object.keys(DEFAULT_CONFIG) as readonly ConfigKey[]

/** These are about the store as a whole, so a project has no say in them. */
const STORE_ONLY: ReadonlySet<string> = new Set<ConfigKey>([
  'maxSizeMb',
  'completedRetentionDays',
  'autoPrune',
  'autoPruneHours',
  'daemon',
  'daemonIdleMinutes',
])

export type ConfigFile = { readonly path: string; readonly source: 'store' | 'project' }

/** What a file sets. Throws CONFIG_INVALID, naming the file and the key. */
export function parseConfig(text: string, file: ConfigFile): Partial<Config> {
  const json = parsedJson(text, file)
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw invalid(file, 'it is not an object')
  for (const [key, value] of Object.entries(json)) check(key, value, file)
  return json
}

function check(key: string, value: unknown, file: ConfigFile): void {
  if (!isKey(key)) throw invalid(file, `it has an unknown key ${JSON.stringify(key)}`)
  if (file.source === 'project' && STORE_ONLY.has(key))
    throw invalid(file, `${key} is about the whole store`, 'Set it in config.json of the store.')
  const wanted = DEFAULT_CONFIG[key]
  if (typeof wanted === 'boolean') {
    if (typeof value !== 'boolean') throw invalid(file, `${key} must be true or false`)
  } else if (typeof wanted === 'number') {
    if (!isAmount(value)) throw invalid(file, `${key} must be a number of 0 or more`)
    if (isCount(key) && (!Number.isInteger(value) || value < 1))
      throw invalid(file, `${key} must be a whole number of 1 or more`)
  } else if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw invalid(file, `${key} must be a list of patterns`)
  }
}

export type Settings = {
  readonly config: Config
  readonly sources: Readonly<Record<ConfigKey, ConfigSource>>
}

/** Later ones count more. */
export function settingsFrom(
  layers: readonly { readonly source: ConfigSource; readonly values: Partial<Config> }[],
): Settings {
  const sources = Object.fromEntries(
    CONFIG_KEYS.map((key) => [
      key,
      layers.findLast(({ values }) => values[key] !== undefined)?.source ?? 'default',
    ]),
  ) as Record<ConfigKey, ConfigSource>
  const config = Object.assign({}, DEFAULT_CONFIG, ...layers.map(({ values }) => values)) as Config
  return { config, sources }
}

const MB = 1024 * 1024

export function limitsFrom({ maxFileMb, maxFiles, allowSecrets }: Config): Limits {
  return { maxFileBytes: Math.floor(maxFileMb * MB), maxFiles, allowSecrets }
}

function parsedJson(text: string, file: ConfigFile): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid(file, 'it is not JSON', undefined, cause)
  }
}

function isKey(key: string): key is ConfigKey {
  return Object.hasOwn(DEFAULT_CONFIG, key)
}

function keysOf(source: ConfigFile['source']): readonly ConfigKey[] {
  return source === 'store' ? CONFIG_KEYS : CONFIG_KEYS.filter((key) => !STORE_ONLY.has(key))
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function isCount(key: ConfigKey): boolean {
  return key === 'maxCheckpoints' || key === 'maxFiles'
}

function invalid(
  { path, source }: ConfigFile,
  what: string,
  hint = `Known keys: ${keysOf(source).join(', ')}.`,
  cause?: unknown,
): SavestateError {
  return new SavestateError('CONFIG_INVALID', `${path} cannot be used: ${what}`, { hint, cause })
}
