import { expect, test } from 'vitest'
import {
  type Config,
  CONFIG_KEYS,
  type ConfigFile,
  DEFAULT_CONFIG,
  limitsFrom,
  parseConfig,
  settingsFrom,
} from './config.js'

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
])('%j names line, column and fault: %s', (text, place) => {
  expect(() => parseConfig(text, STORE)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: `/store/config.json:${place}`,
      hint: 'Correct it in an editor. Without the file the defaults apply.',
    }),
  )
})

test('the policy hermes has a smaller store, unless a file sets its size', () => {
  const sizeOf = (values: Partial<Config>) =>
    settingsFrom([{ source: 'store', values }]).config.maxSizeMb
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

test('a project counts more than the store, and each value says where it comes from', () => {
  const { config, sources } = settingsFrom([
    { source: 'store', values: { maxCheckpoints: 5, maxFileMb: 1 } },
    { source: 'project', values: { maxFileMb: 0.5 } },
  ])
  expect(config).toEqual({ ...DEFAULT_CONFIG, maxCheckpoints: 5, maxFileMb: 0.5 })
  expect(sources).toEqual({
    ...Object.fromEntries(CONFIG_KEYS.map((key) => [key, 'default'])),
    maxCheckpoints: 'store',
    maxFileMb: 'project',
  })
  expect(limitsFrom(config).maxFileBytes).toBe(512 * 1024)
})
