import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  type Config,
  CONFIG_KEYS,
  type ConfigFile,
  DEFAULT_CONFIG,
  limitsFrom,
  parseConfig,
  PROJECT_RULES,
  type ProjectRule,
  settingsFrom,
} from '../../../src/model/settings/config.js'

const STORE: ConfigFile = { path: '/store/config.json', source: 'store' }
const PROJECT: ConfigFile = { path: '/project/.savestate.json', source: 'project' }

test('every setting can be set in the store', () => {
  expect(parseConfig(JSON.stringify(DEFAULT_CONFIG), STORE)).toEqual(DEFAULT_CONFIG)
  expect(parseConfig('{}', PROJECT)).toEqual({})
})

test.each([
  ['[]', 'it is not an object'],
  ['null', 'it is not an object'],
  ['"text"', 'it is not an object'],
  ['{"maxCheckpoint":1}', 'it has an unknown key "maxCheckpoint"'],
  ['{"__proto__":{}}', 'it has an unknown key "__proto__"'],
  ['{"toString":1}', 'it has an unknown key "toString"'],
  ['{"maxCheckpoints":"20"}', 'maxCheckpoints must be a number of 0 or more'],
  ['{"maxCheckpoints":null}', 'maxCheckpoints must be a number of 0 or more'],
  ['{"maxCheckpoints":0}', 'maxCheckpoints must be a whole number of 1 or more'],
  ['{"maxFiles":1.5}', 'maxFiles must be a whole number of 1 or more'],
  ['{"maxSizeMb":-1}', 'maxSizeMb must be a number of 0 or more'],
  ['{"retentionDays":1e999}', 'retentionDays must be a number of 0 or more'],
  ['{"autoPrune":"no"}', 'autoPrune must be true or false'],
  ['{"autoPrune":0}', 'autoPrune must be true or false'],
  ['{"retention":"all"}', 'retention must be "tiers" or "hermes"'],
  ['{"keepAllHours":-1}', 'keepAllHours must be a number of 0 or more'],
  ['{"allowSecrets":"*.pem"}', 'allowSecrets must be a list of patterns'],
  ['{"allowSecrets":[1]}', 'allowSecrets must be a list of patterns'],
])('%s is refused: %s', (text, why) => {
  expect(() => parseConfig(text, STORE)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: `/store/config.json cannot be used: ${why}`,
    }),
  )
})

test.each([
  ['', '1:1: the file is empty; an empty object is {}'],
  ['{', '1:2: the text ends too early'],
  ['{\n  "maxFileMb": 2,\n}', '2:17: remove the comma after the last value'],
  ['{"allowSecrets": ["a", ]}', '1:22: remove the comma after the last value'],
  ['{\n  // no limit\n}', '2:3: comments are not allowed'],
  ["{'maxFileMb': 2}", '1:2: single quotes are not allowed; use double quotes'],
  ['{maxFileMb: 2}', '1:2: a key in double quotes or "}" is expected here'],
  ['{"maxFileMb" 2}', '1:14: a colon is expected here'],
  ['{"maxFileMb": 2 "maxFiles": 1}', '1:17: a comma or the end is expected here'],
  ['{"maxFileMb": two}', '1:15: a value is expected here'],
])('%j reports line, column and fault: %s', (text, place) => {
  expect(() => parseConfig(text, STORE)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: `/store/config.json:${place}`,
      hint: 'Correct it in an editor. Without the file the defaults apply.',
    }),
  )
})

test('the policy hermes has a smaller store, unless a file sets its size', () => {
  const sizeOf = (values: Partial<Config>) => settingsFrom(values).config.maxSizeMb
  expect([sizeOf({}), sizeOf({ retention: 'hermes' })]).toEqual([2000, 500])
  expect(sizeOf({ retention: 'hermes', maxSizeMb: 2000 })).toBe(2000)
})

test.each([
  'maxSizeMb',
  'completedRetentionDays',
  'autoPrune',
  'autoPruneHours',
  'daemon',
  'daemonIdleMinutes',
  'promptCommands',
] as const)('%s is a setting of the whole store', (key) => {
  const text = JSON.stringify({ [key]: DEFAULT_CONFIG[key] })
  expect(() => parseConfig(text, PROJECT)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: `/project/.savestate.json cannot be used: ${key} is a setting of the whole store`,
      hint: `Set it without --project: savestate config set ${key} VALUE`,
    }),
  )
})

test('the hint names the keys that the file may have', () => {
  const own =
    'Known keys: retention, keepAllHours, keepPromptsDays, keepDailyDays, maxFileMb, maxFiles, maxCheckpoints, retentionDays, allowSecrets.'
  expect(() => parseConfig('{"x":1}', PROJECT)).toThrow(expect.objectContaining({ hint: own }))
  const all = `Known keys: ${CONFIG_KEYS.join(', ')}.`
  expect(() => parseConfig('{"x":1}', STORE)).toThrow(expect.objectContaining({ hint: all }))
})

test('a trusted project overrides the store, and each value names its source', () => {
  const store = { maxCheckpoints: 5, maxFileMb: 1 }
  const values = { maxFileMb: 0.5, allowSecrets: ['.env'] }
  const { config, sources, refused } = settingsFrom(store, { values, isTrusted: true })
  const own = { maxCheckpoints: 5, maxFileMb: 0.5, allowSecrets: ['.env'] }
  expect(config).toEqual({ ...DEFAULT_CONFIG, ...own })
  expect(sources).toEqual({
    ...Object.fromEntries(CONFIG_KEYS.map((key) => [key, 'default'])),
    maxCheckpoints: 'store',
    maxFileMb: 'project',
    allowSecrets: 'project',
  })
  expect(refused).toEqual([])
  expect(limitsFrom(config).maxFileBytes).toBe(512 * 1024)
})

test('a project that is not trusted can only make the store keep more', () => {
  const numbers = CONFIG_KEYS.filter((key) => typeof PROJECT_RULES[key] === 'number')
  const base = settingsFrom({}).config
  for (const key of numbers) {
    const own = Number(base[key])
    const less = settingsFrom({}, { values: { [key]: own - 1 }, isTrusted: false })
    expect([less.config, less.sources[key]]).toEqual([base, 'default'])
    expect(less.refused).toEqual([{ key, asked: own - 1, used: own }])
    const more = settingsFrom({}, { values: { [key]: own + 1 }, isTrusted: false })
    expect([more.config[key], more.sources[key], more.refused]).toEqual([own + 1, 'project', []])
  }
  const values = { retention: 'hermes', allowSecrets: ['.env'], maxFileMb: 5000 } as const
  const { config, refused } = settingsFrom({}, { values, isTrusted: false })
  expect(config).toEqual({ ...base, maxFileMb: 100 })
  expect(refused.map(({ key }) => key)).toEqual(['retention', 'maxFileMb', 'allowSecrets'])
  // The store's own value may exceed what a project can ask for.
  const high = settingsFrom({ maxFileMb: 300 }, { values, isTrusted: false })
  expect(high.config.maxFileMb).toBe(300)
})

test('the guide says for each setting how far a project may set it', () => {
  const guide = readFileSync(
    new URL('../../../docs/reference/settings.md', import.meta.url),
    'utf8',
  )
  const inGuide = [...guide.matchAll(/^\| `([a-z]\w+)` .*\| ([^|]+?) +\|$/gm)].map(
    ([, key, rule]) => [key, rule],
  )
  const wordOf = (rule: ProjectRule) => {
    if (rule === 'store') return 'no'
    if (rule === 'trusted') return 'if trusted'
    return rule === Infinity ? 'more' : `more, up to ${rule}`
  }
  const rules = CONFIG_KEYS.map((key) => [key, wordOf(PROJECT_RULES[key])])
  expect(Object.fromEntries(inGuide)).toEqual(Object.fromEntries(rules))
})
