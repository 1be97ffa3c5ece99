// The settings, in the store's config.json or a project's .savestate.json. Pure: another file reads the files.
import { SavestateError } from '../errors.js'
import { jsonFault } from '../json/json-fault.js'
import type { Limits } from './limits.js'

/** `tiers`: history thins out with age. `hermes`: limits by number and age, as in Hermes. */
export const RETENTION_POLICIES = ['tiers', 'hermes'] as const
export type RetentionSetting = (typeof RETENTION_POLICIES)[number]

export type Config = {
  readonly retention: RetentionSetting
  /** `tiers` only: every checkpoint is kept for this long. */
  readonly keepAllHours: number
  /** `tiers` only: then one per prompt, up to this age. */
  readonly keepPromptsDays: number
  /** `tiers` only: then one per day, up to this age. */
  readonly keepDailyDays: number
  /** The whole store. */
  readonly maxSizeMb: number
  /** Larger files are left out of checkpoints. */
  readonly maxFileMb: number
  /** A project with more files is refused. */
  readonly maxFiles: number
  /** `hermes` only: automatic checkpoints per project, not counting named, pinned and unfinished ones. */
  readonly maxCheckpoints: number
  /** `hermes` only: how long an unused project or session is kept. */
  readonly retentionDays: number
  /** `hermes` only: the same for completed sessions. */
  readonly completedRetentionDays: number
  readonly autoPrune: boolean
  readonly autoPruneHours: number
  /** Whether the hooks of agents start the daemon. */
  readonly daemon: boolean
  /** The daemon exits after this time without a request. */
  readonly daemonIdleMinutes: number
  /** Whether hooks carry out commands such as `savestate undo` that the user types as a prompt of an agent. */
  readonly promptCommands: boolean
  /** Patterns of files that are captured although they look like secrets. */
  readonly allowSecrets: readonly string[]
  /** Whether prompts and conversations of an encrypted store are indexed for searches. The index is not encrypted. */
  readonly searchIndex: boolean
}

export type ConfigKey = keyof Config
export type ConfigSource = 'default' | 'store' | 'project'

export const DEFAULT_CONFIG: Config = {
  retention: 'tiers',
  keepAllHours: 48,
  keepPromptsDays: 30,
  keepDailyDays: 365,
  maxSizeMb: 2000,
  maxFileMb: 10,
  maxFiles: 200_000,
  maxCheckpoints: 20,
  retentionDays: 7,
  completedRetentionDays: 1,
  autoPrune: true,
  autoPruneHours: 24,
  daemon: true,
  daemonIdleMinutes: 30,
  promptCommands: true,
  allowSecrets: [],
  searchIndex: false,
}

const POLICY_DEFAULTS: Readonly<Record<RetentionSetting, Partial<Config>>> = {
  tiers: {},
  hermes: { maxSizeMb: 500 },
}

/** Whether the setting has an effect under this policy. */
export function appliesToPolicy(key: ConfigKey, policy: RetentionSetting): boolean {
  return RETENTION_POLICIES.every((other) => other === policy || !POLICY_KEYS[other].includes(key))
}

const POLICY_KEYS: Readonly<Record<RetentionSetting, readonly ConfigKey[]>> = {
  tiers: ['keepAllHours', 'keepPromptsDays', 'keepDailyDays'],
  hermes: ['maxCheckpoints', 'retentionDays', 'completedRetentionDays'],
}

export const CONFIG_KEYS = Object.keys(DEFAULT_CONFIG) as readonly ConfigKey[]

/**
 * The effect of a project's settings file. A clone, a pull or an agent can write that file, so until the user trusts it, it can
 * only make Savestate keep more than the store's settings.
 * - `store`: a setting of the whole store, refused in a project's file
 * - `trusted`: only effective in a trusted file
 * - a number: a value larger than the store's is effective, up to this limit; any other value only in a trusted file
 */
export type ProjectRule = 'store' | 'trusted' | number

export const PROJECT_RULES: Readonly<Record<ConfigKey, ProjectRule>> = {
  retention: 'trusted',
  keepAllHours: Infinity,
  keepPromptsDays: Infinity,
  keepDailyDays: Infinity,
  maxSizeMb: 'store',
  // Limited, because all projects share the store.
  maxFileMb: 100,
  maxFiles: 1_000_000,
  maxCheckpoints: Infinity,
  retentionDays: Infinity,
  completedRetentionDays: 'store',
  autoPrune: 'store',
  autoPruneHours: 'store',
  daemon: 'store',
  daemonIdleMinutes: 'store',
  promptCommands: 'store',
  allowSecrets: 'trusted',
  searchIndex: 'store',
}

export type ConfigFile = { readonly path: string; readonly source: 'store' | 'project' }

/** Parses the settings of a file. Throws CONFIG_INVALID, naming the file and the line or the key. */
export function parseConfig(text: string, file: ConfigFile): Partial<Config> {
  const json = parseConfigObject(text, file)
  for (const [key, value] of Object.entries(json)) {
    const fault = settingFault(key, value, file.source)
    if (fault !== undefined) throw invalidConfig(file, fault)
  }
  return json
}

/** The same without checking keys and values. */
export function parseConfigObject(text: string, file: ConfigFile): object {
  const json = parseJson(text, file)
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json
  throw invalidConfig(file, { what: 'it is not an object' })
}

type SettingFault = { readonly what: string; readonly hint?: string }

/** Why a file of this kind cannot have this key and value; undefined if it can. */
export function settingFault(
  key: string,
  value: unknown,
  source: ConfigFile['source'],
): SettingFault | undefined {
  if (!isConfigKey(key)) {
    const keys = CONFIG_KEYS.filter((one) => source === 'store' || PROJECT_RULES[one] !== 'store')
    return {
      what: `it has an unknown key ${JSON.stringify(key)}`,
      hint: `Known keys: ${keys.join(', ')}.`,
    }
  }
  if (source === 'project' && PROJECT_RULES[key] === 'store')
    return {
      what: `${key} is a setting of the whole store`,
      hint: `Set it without --project: savestate config set ${key} VALUE`,
    }
  const wanted = wantedFor(key, value)
  return wanted === undefined ? undefined : { what: `${key} must be ${wanted}` }
}

/** The requirement that the value does not meet; undefined if it is valid. */
function wantedFor(key: ConfigKey, value: unknown): string | undefined {
  const usual = DEFAULT_CONFIG[key]
  if (typeof usual === 'boolean') return typeof value === 'boolean' ? undefined : 'true or false'
  if (typeof usual === 'number') {
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
      return 'a number of 0 or more'
    const isCount = key === 'maxCheckpoints' || key === 'maxFiles'
    const isWrongCount = isCount && (!Number.isInteger(value) || value < 1)
    return isWrongCount ? 'a whole number of 1 or more' : undefined
  }
  if (typeof usual === 'string') {
    const isPolicy = RETENTION_POLICIES.some((policy) => policy === value)
    return isPolicy
      ? undefined
      : RETENTION_POLICIES.map((policy) => JSON.stringify(policy)).join(' or ')
  }
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return isList ? undefined : 'a list of patterns'
}

export type Settings = {
  readonly config: Config
  readonly sources: Readonly<Record<ConfigKey, ConfigSource>>
  /** Settings of the project's file that have no effect, because the user has not trusted that file. */
  readonly refused: readonly RefusedSetting[]
}

export type RefusedSetting = {
  readonly key: ConfigKey
  readonly asked: Config[ConfigKey]
  readonly used: Config[ConfigKey]
}

export type ProjectValues = { readonly values: Partial<Config>; readonly isTrusted: boolean }

/** The store's settings, overridden by what the project's file may change. */
export function settingsFrom(store: Partial<Config>, project?: ProjectValues): Settings {
  const base = withDefaults(store)
  const { values = {}, isTrusted = false } = project ?? {}
  const asked = CONFIG_KEYS.filter((key) => values[key] !== undefined)
  const used = isTrusted
    ? values
    : Object.fromEntries(asked.map((key) => [key, keepingMore(key, base[key], values[key])]))
  const config = withDefaults({ ...store, ...used })
  const sources = Object.fromEntries(
    CONFIG_KEYS.map((key) => {
      const isOfProject = asked.includes(key) && (isTrusted || !isSame(config[key], base[key]))
      return [key, isOfProject ? 'project' : store[key] === undefined ? 'default' : 'store']
    }),
  ) as Record<ConfigKey, ConfigSource>
  const refused = asked.flatMap((key): RefusedSetting[] => {
    const wanted = values[key]
    if (wanted === undefined || isSame(wanted, config[key])) return []
    return [{ key, asked: wanted, used: config[key] }]
  })
  return { config, sources, refused }
}

function withDefaults(set: Partial<Config>): Config {
  const policy = POLICY_DEFAULTS[set.retention ?? DEFAULT_CONFIG.retention]
  return { ...DEFAULT_CONFIG, ...policy, ...set }
}

/** The store's value, or the project's if that keeps more and is allowed. */
function keepingMore<Value>(key: ConfigKey, own: Value, asked: unknown): Value | number {
  const most = PROJECT_RULES[key]
  if (typeof most !== 'number' || typeof own !== 'number' || typeof asked !== 'number') return own
  return Math.max(own, Math.min(asked, most))
}

function isSame(one: Config[ConfigKey], other: Config[ConfigKey]): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

const MB = 1024 * 1024

export function limitsFrom({ maxFileMb, maxFiles, allowSecrets }: Config): Limits {
  return { maxFileBytes: Math.floor(maxFileMb * MB), maxFiles, allowSecrets }
}

function parseJson(text: string, file: ConfigFile): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const { line, column, what } = jsonFault(text)
    throw new SavestateError('CONFIG_INVALID', `${file.path}:${line}:${column}: ${what}`, {
      hint: 'Correct it in an editor. Without the file the defaults apply.',
      cause,
    })
  }
}

export function isConfigKey(key: string): key is ConfigKey {
  return Object.hasOwn(DEFAULT_CONFIG, key)
}

function invalidConfig({ path }: ConfigFile, { what, ...hint }: SettingFault): SavestateError {
  return new SavestateError('CONFIG_INVALID', `${path} cannot be used: ${what}`, hint)
}
