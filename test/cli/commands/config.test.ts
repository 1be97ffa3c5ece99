// `savestate config`: shown, changed, refused.
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ConfigResult } from '../../../src/index.js'
import { scratch } from '../program.js'
import { setStore } from './maintenance-helpers.js'

describe('config', () => {
  test('shows each value and where it comes from', () => {
    using s = scratch({ '.savestate.json': '{"maxFileMb":2}' })
    setStore(s, { maxSizeMb: 5, maxFileMb: 1 })
    const [store, project] = [join(s.home, 'config.json'), join(s.project, '.savestate.json')]
    const result = s.json(['config']) as ConfigResult
    expect(result.files).toEqual({ store, project })
    expect(result.values.slice(3, 6)).toEqual([
      { key: 'keepDailyDays', value: 365, source: 'default', counts: true },
      { key: 'maxSizeMb', value: 5, source: 'store', counts: true },
      { key: 'maxFileMb', value: 2, source: 'project', counts: true },
    ])
    const { code, stdout } = s.run(['config'])
    expect(code).toBe(0)
    expect(stdout.split('\n').slice(3, 6)).toEqual([
      'keepDailyDays      365      default',
      `maxSizeMb          5        ${store}`,
      `maxFileMb          2        ${project}`,
    ])
    // The other policy has settings of its own.
    expect(stdout).not.toContain('maxCheckpoints')
  })

  test('trust shows what the files of a project ask for, and lets them count', () => {
    using s = scratch({
      '.savestate.json': '{"keepAllHours":1,"allowSecrets":["\\u001b[2J"]}',
      '.savestateignore': '!.env\n',
      '.env': 'A=1',
    })
    const asks =
      '.savestate.json asks for keepAllHours 1, allowSecrets ["\\u001b[2J"], .savestateignore asks for !.env'
    const line = `${asks}: not in effect until you confirm it with \`savestate config trust\`.\n`
    expect(s.run(['config']).stderr).toBe(line)
    expect(s.run(['save']).stderr).toBe(line)
    expect(s.run(['status']).stdout).toContain(`${asks}: not in effect until`)
    expect(s.run(['doctor']).stdout).toContain('files of 1 project ask')
    const refused = s.run(['config', 'trust'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--yes')])
    const byAgent = s.run(['config', 'trust', '--yes'], { env: { CLAUDECODE: '1' } })
    expect([byAgent.code, byAgent.stderr]).toEqual([2, expect.stringContaining('Only a user')])
    expect(s.run(['config', 'trust', '--yes'])).toEqual({
      code: 0,
      stdout: 'Trusted .savestate.json and .savestateignore. Any change of a file ends this.\n',
      stderr: '',
    })
    expect(s.run(['config']).stderr).toBe('')
    expect(s.run(['config', 'trust']).stdout).toContain('ask for nothing')
    expect(s.json(['save'])).toMatchObject({ skipped: 0 })
    expect(s.run(['verify']).code).toBe(0)
  })

  test.each(['store', 'project'])(
    'a wrong setting in the file of the %s is reported, for save too',
    (which) => {
      using s = scratch({ a: '1' })
      const file = join(
        which === 'store' ? s.home : s.project,
        which === 'store' ? 'config.json' : '.savestate.json',
      )
      s.run(['save'])
      writeFileSync(file, '{"maxChekpoints":1}')
      for (const command of ['save', 'config']) {
        const { code, stderr } = s.run([command, '--json'])
        expect([code, JSON.parse(stderr)]).toEqual([
          2,
          {
            error: {
              code: 'CONFIG_INVALID',
              message: `${file} cannot be used: it has an unknown key "maxChekpoints"`,
              hint: expect.stringContaining('maxCheckpoints'),
            },
          },
        ])
      }
    },
  )
})

describe('config set', () => {
  test('writes one setting, keeps the rest of the file, and unset removes it', () => {
    using s = scratch({ a: '1' })
    s.run(['save'])
    const file = join(s.home, 'config.json')
    writeFileSync(file, '{\n    "maxFileMb":   3,\n    "allowSecrets": ["*.pem"]\n}\n', {
      mode: 0o600,
    })
    expect(s.run(['config', 'set', 'maxSizeMb', '5000'])).toEqual({
      code: 0,
      stdout: `maxSizeMb is now 5000 (${file}).\n`,
      stderr: '',
    })
    const text = readFileSync(file, 'utf8')
    expect(text.startsWith('{\n    "maxFileMb": 3,\n    "allowSecrets": [')).toBe(true)
    expect(JSON.parse(text)).toEqual({ maxFileMb: 3, allowSecrets: ['*.pem'], maxSizeMb: 5000 })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(s.run(['config', 'get', 'maxSizeMb']).stdout).toBe('5000\n')
    expect(s.json(['config', 'get', 'maxSizeMb'])).toEqual({
      key: 'maxSizeMb',
      value: 5000,
      source: 'store',
      counts: true,
    })
    expect(s.run(['config', 'unset', 'maxSizeMb']).stdout).toBe(
      `maxSizeMb is back to 2000 (${file}).\n`,
    )
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      maxFileMb: 3,
      allowSecrets: ['*.pem'],
    })
    expect(s.run(['verify']).code).toBe(0)
  })

  test('with --project it writes .savestate.json', () => {
    using s = scratch({ a: '1' })
    s.run(['config', 'set', '--project', 'keepAllHours', '168'])
    s.run(['config', 'set', '--project', 'allowSecrets', '*.pem'])
    const file = join(s.project, '.savestate.json')
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      keepAllHours: 168,
      allowSecrets: ['*.pem'],
    })
    expect(statSync(file).mode & 0o777).toBe(0o644)
    expect(s.run(['config', 'set', 'keepAllHours', '24']).stderr).toContain(
      'In this project .savestate.json sets it to 168.',
    )
    s.run(['config', 'unset', '--project', 'keepAllHours'])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ allowSecrets: ['*.pem'] })
    expect(s.run(['config', 'unset', '--project', 'allowSecrets']).code).toBe(0)
    expect(existsSync(file)).toBe(false)
  })

  test.each([
    [['set', 'maxSizMb', '3'], 'There is no setting "maxSizMb"', 'Did you mean maxSizeMb?'],
    [['set', 'maxSizeMb', 'much'], 'maxSizeMb must be a number of 0 or more', ''],
    [['set', 'retention', 'all'], 'retention must be "tiers" or "hermes"', ''],
    [['set', 'autoPrune', 'maybe'], 'autoPrune must be true or false', ''],
    [['set', 'maxSizeMb'], 'The value of maxSizeMb is missing', 'Usage'],
    [['get'], 'The name of the setting is missing', 'Usage'],
    [
      ['set', '--project', 'maxSizeMb', '3'],
      'maxSizeMb is a setting of the whole store',
      'Set it without --project',
    ],
    [['set', 'keepAllHours', '-5'], 'The value of a setting is 0 or more, not -5', 'Usage'],
    [['set', 'keepAllHours', '-50.5'], 'The value of a setting is 0 or more, not -50.5', 'Usage'],
    [
      ['maxCheckpoints', '500'],
      '"maxCheckpoints" is not one of get, set, unset, trust. To change a setting: `savestate config set maxCheckpoints 500`',
      'Usage',
    ],
    [
      ['keepAllHours'],
      '"keepAllHours" is not one of get, set, unset, trust. To read a setting: `savestate config get keepAllHours`',
      'Usage',
    ],
  ])('%j is refused, and nothing is written', (argv, message, hint) => {
    using s = scratch({ a: '1' })
    s.run(['save'])
    const { code, stderr } = s.run(['config', ...argv, '--json'])
    const { error } = JSON.parse(stderr) as { error: { message: string; hint: string | null } }
    expect([code, error.message]).toEqual([2, message])
    expect(error.hint ?? '').toContain(hint)
    expect(existsSync(join(s.home, 'config.json'))).toBe(false)
    expect(existsSync(join(s.project, '.savestate.json'))).toBe(false)
  })

  test('a setting of the other policy is set, and the answer says that it has no effect', () => {
    using s = scratch({ a: '1' })
    const { code, stderr } = s.run(['config', 'set', 'maxCheckpoints', '5'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('has no effect')])
    s.run(['config', 'set', 'retention', 'hermes'])
    expect(s.run(['config']).stdout).toMatch(/^maxCheckpoints {10}5 {9}/m)
  })

  test('a broken file names line, column and fault, and is not written to', () => {
    using s = scratch({ a: '1' })
    s.run(['save'])
    const file = join(s.home, 'config.json')
    const broken = '{\n  "maxFileMb": 3,\n}\n'
    writeFileSync(file, broken)
    for (const argv of [['config'], ['config', 'set', 'maxFileMb', '4'], ['save']])
      expect(s.run(argv)).toEqual({
        code: 2,
        stdout: '',
        stderr: `Error: ${file}:2:17: remove the comma after the last value.\nCorrect it in an editor. Without the file the defaults apply.\n`,
      })
    expect(readFileSync(file, 'utf8')).toBe(broken)
  })

  test('in a home folder, which is not a project, it changes the store', () => {
    using s = scratch({ a: '1' })
    const file = join(s.home, 'config.json')
    const { HOME = '' } = s.environment
    const run = (...argv: readonly string[]) => s.run(['-C', HOME, 'config', ...argv])
    expect(run('set', 'maxSizeMb', '5000')).toEqual({
      code: 0,
      stdout: `maxSizeMb is now 5000 (${file}).\n`,
      stderr: '',
    })
    expect(run('get', 'maxSizeMb').stdout).toBe('5000\n')
    expect(run().stdout).toMatch(new RegExp(`The store: +${file}\n$`))
    expect(run('set', '--project', 'maxFileMb', '5')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is a home folder'),
    })
  })

  test('concurrent changes all take effect', () => {
    using s = scratch({ a: '1' })
    s.run(['save'])
    const keys = ['maxSizeMb', 'maxFiles', 'keepAllHours', 'keepPromptsDays', 'keepDailyDays']
    s.shell(keys.map((key) => `savestate config set ${key} 77 &`).join(' ') + ' wait')
    const settings = JSON.parse(readFileSync(join(s.home, 'config.json'), 'utf8')) as object
    expect(settings).toEqual(Object.fromEntries(keys.map((key) => [key, 77])))
  })

  test('a link is not written through', () => {
    using s = scratch({ a: '1' })
    const outside = join(s.folder, 'outside.json')
    writeFileSync(outside, '{}')
    symlinkSync(outside, join(s.project, '.savestate.json'))
    expect(s.run(['config', 'set', '--project', 'keepAllHours', '1'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not a regular file'),
    })
    expect(readFileSync(outside, 'utf8')).toBe('{}')
  })
})
