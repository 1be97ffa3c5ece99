// The commands for the store: prune, config, clear and clear-legacy, as text, as JSON, and refused.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ConfigResult, PruneResult } from '../../../src/index.js'
import { startAgent } from '../agent.js'
import { type Ended, prepared, type Scratch, scratch } from '../program.js'

function setStore(s: Scratch, config: unknown): void {
  mkdirSync(s.home, { recursive: true, mode: 0o700 })
  writeFileSync(join(s.home, 'config.json'), JSON.stringify(config), { mode: 0o600 })
}

/** Three checkpoints of the project, one of them pinned. */
const withCheckpoints = prepared(() => {
  const s = scratch()
  for (const content of ['one', 'two', 'three']) {
    s.write({ 'a.txt': content })
    s.run(['save', '-m', content])
  }
  s.run(['pin', '3'])
  return s
})

const count = (s: Scratch) => (s.json(['list']) as { checkpoints: unknown[] }).checkpoints.length

/** On a terminal, with this answer typed. */
function answered(s: Scratch, command: string, answer: string): Ended {
  return s.shell(`script -qec 'savestate ${command}' /dev/null`, { input: `${answer}\n` })
}

test('a file of 2 MB is left out under a limit of 1 MB, given by a flag, while sources stay', () => {
  using s = scratch({ 'source.ts': 'export {}\n', 'data.bin': 'x'.repeat(2 * 1024 * 1024) })
  expect(s.json(['save', '--max-file-mb', '1'])).toMatchObject({
    files: 1,
    skippedByReason: { 'too-large': 1 },
  })
  expect(s.json(['save'])).toMatchObject({ created: true, skippedByReason: {} })
  expect(s.run(['save', '--max-file-mb', 'much']).code).toBe(2)
})

describe('prune', () => {
  test('shows its plan, asks, and applies it', () => {
    using s = withCheckpoints()
    const dry = s.run(['prune', '--max-checkpoints', '1', '--dry-run'])
    expect(dry.code).toBe(0)
    const [first, ...lines] = dry.stdout.split('\n')
    expect(first).toMatch(/project, frees [\d.]+ (B|KB)$/)
    expect(lines.slice(0, 3)).toEqual([
      '  1 checkpoint to remove: over the number to keep',
      '  1 checkpoint to keep: within the limits',
      '  1 checkpoint to keep: pinned',
    ])
    expect(lines[3]).toMatch(
      /^The store uses [\d.]+ KB and would use about [\d.]+ KB of 2\.0 GB\.$/,
    )
    expect(s.run(['prune', '--max-checkpoints', '1'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('no terminal to ask on'),
    })
    expect(count(s)).toBe(3)
    const no = answered(s, 'prune --max-checkpoints 1', 'n')
    expect([no.code, no.stdout]).toEqual([1, expect.stringContaining('Nothing has been removed.')])
    expect(no.stdout).toContain('over the number to keep')
    expect(count(s)).toBe(3)
    const yes = answered(s, 'prune --max-checkpoints 1', 'y')
    expect([yes.code, yes.stdout]).toEqual([
      0,
      expect.stringContaining('Removed 1 checkpoint. The store uses '),
    ])
    expect(count(s)).toBe(2)
    const again = s.run(['prune', '--max-checkpoints', '1'])
    expect(again.code).toBe(0)
    expect(again.stdout).toMatch(
      /^Nothing had to be removed\. The store uses [\d.]+ KB of 2\.0 GB\.\n$/,
    )
  })

  test('a dry run works without a terminal', () => {
    using s = withCheckpoints()
    const dry = s.run(['prune', '--max-checkpoints', '1', '--unattended', '--dry-run'])
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('1 checkpoint to remove')])
    expect(count(s)).toBe(3)
  })

  test('as JSON it is the whole result', () => {
    using s = withCheckpoints()
    const result = s.json(['prune', '--max-checkpoints', '1', '-y']) as PruneResult
    expect(result).toEqual({
      plan: {
        projects: [
          {
            id: expect.any(String),
            path: s.project,
            state: 'live',
            unreachable: null,
            drop: [{ id: expect.any(String), why: 'count' }],
            keep: { recent: 1, pinned: 1 },
            freesBytes: expect.any(Number),
            forgetsUndo: false,
          },
        ],
        unattached: { drop: [], keep: {} },
        sessions: [],
        sizeBytes: expect.any(Number),
        capBytes: 2_000_000_000,
        afterBytes: expect.any(Number),
      },
      applied: true,
      scanned: 1,
      deletedOrphan: 0,
      deletedStale: 0,
      deletedCheckpoints: 1,
      deletedByReason: { count: 1 },
      prunedFiles: 0,
      deletedSessions: 0,
      errors: [],
      bytesReclaimed: expect.any(Number),
      sizeBytes: expect.any(Number),
      above: null,
    })
  })

  test('above the limit the output explains why, and the exit code is 2', () => {
    using s = withCheckpoints()
    setStore(s, { maxSizeMb: 0.001 })
    const dry = s.run(['prune', '--dry-run'])
    expect(dry.code).toBe(2)
    const kept =
      'Always kept: the newest checkpoint of each project, 1 checkpoint (pinned), agent states.\n'
    expect(dry.stdout).toMatch(/It would stay [\d.]+ KB over the limit\.\n/)
    expect(dry.stdout).toContain(kept)
    expect(dry.stdout).toContain('1 project with nothing to remove\n')
    expect(dry.stdout).toContain('would not free enough')
    expect(dry.stdout).toContain('savestate config set maxSizeMb')
    expect(s.run(['status']).stdout).toMatch(
      /The store is [\d.]+ KB over its limit\. The next prune reduces it: `savestate prune`\.\n/,
    )
    const done = s.run(['prune', '-y'])
    expect(done.code).toBe(2)
    expect(s.run(['status']).stdout).toMatch(
      /over its limit\. The last prune could not reduce it .*The largest are /,
    )
    expect(done.stdout).toMatch(/It is [\d.]+ KB over the limit\.\n/)
    expect(done.stdout).toContain(kept)
    const unseen = s.run(['prune', '--unattended'])
    expect([unseen.code, unseen.stdout]).toEqual([2, expect.stringContaining('over the limit')])
  })

  test('a dry run without a terminal removes nothing', () => {
    using s = scratch({ a: '1' })
    for (const text of ['1', '2', '3']) {
      s.write({ a: text })
      s.run(['save'])
    }
    const { code, stdout } = s.run(['prune', '--unattended', '--max-checkpoints', '1', '--dry-run'])
    expect([code, stdout]).toEqual([0, expect.stringContaining('  2 checkpoints to remove: ')])
    expect((s.json(['list']) as { checkpoints: unknown[] }).checkpoints).toHaveLength(3)
  })

  test('orphans are removed or kept, and unreachable folders are explained', () => {
    using s = scratch({ a: '1' })
    s.run(['save'])
    const gone = join(s.folder, 'gone')
    const work = join(s.folder, 'disk', 'work')
    for (const folder of [gone, work]) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'b'), folder)
      s.run(['-C', folder, 'save'])
    }
    rmSync(gone, { recursive: true })
    rmSync(join(s.folder, 'disk'), { recursive: true })
    const kept = s.json(['prune', '--keep-orphans', '-y']) as PruneResult
    expect(kept.deletedOrphan).toBe(0)
    const { stdout } = s.run(['prune', '--dry-run'])
    expect(stdout).toContain('  1 checkpoint to remove: the folder is gone\n')
    expect(stdout).toContain('work cannot be reached\n')
    expect(stdout).toContain(
      '  not treated as removed: its parent folder cannot be reached either\n',
    )
    expect(s.run(['prune', '--unattended'])).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(s.json(['prune', '--unattended'])).toMatchObject({ applied: true, deletedOrphan: 0 })
    const done = s.run(['prune', '-y'])
    expect([done.code, done.stdout]).toEqual([
      0,
      expect.stringContaining('Removed 1 checkpoint, 1 project.'),
    ])
  })

  test.each([
    ['--retention-days', 'x'],
    ['--max-size-mb', '-1'],
    ['--max-checkpoints', '0'],
    ['--keep'],
    ['now'],
  ])('wrong: prune %s %s', (...args) => {
    using s = scratch()
    expect(s.run(['prune', ...args.filter((it) => it !== undefined)])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Usage: savestate prune'),
    })
  })
})

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

describe('drop', () => {
  test('shows the checkpoints, asks, and removes them', () => {
    using s = withCheckpoints()
    const dry = s.run(['drop', '1', '2', '--dry-run'])
    expect(dry.code).toBe(0)
    expect(dry.stdout).toMatch(/^This removes 2 checkpoints:\n {2}\w+ {2}[a-z0-9 ]+ {2}three\n/)
    expect(s.run(['drop', '1'])).toMatchObject({ code: 2, stdout: '' })
    const no = answered(s, 'drop 1', 'n')
    expect([no.code, no.stdout]).toEqual([1, expect.stringContaining('Drop this checkpoint?')])
    expect(count(s)).toBe(3)
    const yes = answered(s, 'drop 1', 'y')
    expect(yes.code).toBe(0)
    expect(yes.stdout).toMatch(
      /Dropped 1 checkpoint, freed [\d.]+ \w+:\r?\n {2}[a-z]{4,8} {2}[a-z0-9 ]+ {2}three\r?\n/,
    )
    expect(count(s)).toBe(2)
    expect(s.run(['drop', '2', '-y'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /Checkpoint (?<id>[a-z]{8}) is pinned\.\nUnpin it first: savestate unpin \k<id>\n/,
      ),
    })
    expect(s.json(['drop', '1', '-y'])).toMatchObject({ applied: true, checkpoints: [{}] })
    expect(count(s)).toBe(1)
  })
})

describe('clear', () => {
  test('clears the project of the folder, or of -C, and leaves the others', () => {
    using s = withCheckpoints()
    const other = join(s.folder, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'b'), '1')
    s.run(['-C', other, 'save'])
    const dry = s.run(['clear', '--dry-run'])
    expect([dry.code, dry.stdout]).toEqual([
      0,
      expect.stringContaining('3 checkpoints, 0 sessions'),
    ])
    const no = answered(s, 'clear', 'n')
    expect([no.code, no.stdout]).toEqual([1, expect.stringContaining('Nothing has been removed.')])
    expect(s.run(['-C', other, 'clear', '-y']).stdout).toMatch(
      /^Removed 1 checkpoint and 0 sessions of \S+other, freed [\d.]+ (KB|bytes)\.\n$/,
    )
    expect(count(s)).toBe(3)
    expect(s.json(['clear', '-f'])).toMatchObject({ applied: true, checkpoints: 3 })
    expect(count(s)).toBe(0)
    expect(s.run(['clear'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^There is nothing to remove: the store has no data of /),
    })
  })

  test.each(['-f', '--yes'])(
    'with --all and %s it empties the store, but not the settings',
    (flag) => {
      using s = withCheckpoints()
      setStore(s, { maxSizeMb: 5 })
      const { code, stdout } = s.run(['clear', '--all', flag])
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(
          /^The store is empty: .* freed\.\nYour settings \(config\.json\) stay, .* bin, /,
        ),
      ])
      expect(readdirSync(s.home).sort()).toEqual(['config.json', 'format', 'locks'])
      expect(s.run(['save']).code).toBe(0)
      expect(count(s)).toBe(1)
      expect(s.run(['config', 'get', 'maxSizeMb']).stdout).toBe('5\n')
    },
  )

  test('needs a yes', () => {
    using s = withCheckpoints()
    for (const argv of [['clear'], ['clear', '--all']]) {
      const { code, stderr } = s.run([...argv, '--json'])
      expect([code, JSON.parse(stderr).error.code]).toEqual([2, 'CONFIRMATION_NEEDED'])
    }
    const no = answered(s, 'clear --all', 'n')
    expect([no.code, no.stdout]).toEqual([
      1,
      expect.stringContaining('3 checkpoints of 1 project, 0 sessions'),
    ])
    expect(count(s)).toBe(3)
    expect(answered(s, 'clear --all', 'yes').code).toBe(0)
    expect(count(s)).toBe(0)
    expect(s.json(['clear', '--all', '-y'])).toEqual({
      applied: true,
      bytesReclaimed: expect.any(Number),
    })
  })

  test('removes nothing while another process has the store open', async () => {
    using s = withCheckpoints()
    const agent = await startAgent(s, 'await project.list()')
    const { code, stderr } = s.run(['clear', '--all', '-f', '--json'])
    expect([code, JSON.parse(stderr).error.code]).toEqual([2, 'STORE_BUSY'])
    expect(count(s)).toBe(3)
    await agent.kill()
    expect(s.run(['clear', '--all', '-f']).code).toBe(0)
    expect(count(s)).toBe(0)
  })

  test('another command during it reports that the store is busy', async () => {
    using s = withCheckpoints()
    const script = `
      import { DatabaseSync } from '@photostructure/sqlite'
      const database = new DatabaseSync(process.argv[1])
      database.exec('BEGIN EXCLUSIVE')
      process.stdout.write('held')
      setInterval(() => database, 1000)`
    const lock = join(s.home, 'locks', 'store')
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script, lock])
    await once(holder.stdout, 'data')
    const { code, stderr } = s.run(['list', '--json'])
    holder.kill('SIGKILL')
    expect([code, JSON.parse(stderr).error]).toEqual([
      2,
      {
        code: 'STORE_BUSY',
        message: 'Another process has locked the store',
        hint: expect.stringContaining('Wait until it is done'),
      },
    ])
    await once(holder, 'exit')
    expect(count(s)).toBe(3)
  })

  test('works on a store whose ledger is damaged', () => {
    using s = withCheckpoints()
    writeFileSync(join(s.home, 'ledger.db'), 'no database at all '.repeat(500))
    expect(s.run(['list']).code).toBe(2)
    expect(s.run(['clear', '--all', '-f']).code).toBe(0)
    expect(s.run(['save']).code).toBe(0)
    expect(s.run(['verify']).code).toBe(0)
  })
})

describe('clear-legacy', () => {
  test('removes only the archives, after a yes, also if the ledger is damaged', () => {
    using s = withCheckpoints()
    for (const name of ['legacy-20240101', 'legacy-x/deep', 'legacy'])
      mkdirSync(join(s.home, name), { recursive: true })
    writeFileSync(join(s.home, 'legacy-x/deep/file'), 'x'.repeat(5000))
    expect(s.run(['clear-legacy'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no terminal to ask on'),
    })
    const no = answered(s, 'clear-legacy', 'n')
    expect([no.code, no.stdout]).toEqual([1, expect.stringContaining('legacy-20240101')])
    expect(existsSync(join(s.home, 'legacy-x/deep/file'))).toBe(true)
    writeFileSync(join(s.home, 'ledger.db-wal'), 'damaged '.repeat(100))
    expect(s.json(['clear-legacy', '-f'])).toEqual({
      applied: true,
      removed: ['legacy-20240101', 'legacy-x'].map((name) => ({
        path: join(s.home, name),
        sizeBytes: expect.any(Number),
      })),
    })
    expect(existsSync(join(s.home, 'legacy'))).toBe(true)
    expect(s.run(['clear-legacy'])).toEqual({
      code: 0,
      stdout: 'There are no archives of older stores.\n',
      stderr: '',
    })
  })
})

test('help and completion know these commands', () => {
  using s = scratch()
  const { stdout } = s.run(['help'])
  for (const command of ['prune', 'config', 'clear', 'clear-legacy']) {
    expect(stdout).toMatch(new RegExp(`^ +${command} `, 'm'))
    expect(s.run([command, '--help']).stdout).toContain(`savestate ${command}`)
  }
  const offered = s.run(['__complete', '--', 'clear']).stdout.split('\n')
  expect(offered.map((line) => line.split('\t')[0])).toEqual(['clear', 'clear-legacy', ''])
  expect(s.run(['__complete', '--', 'prune', '--max']).stdout).toMatch(/^--max-size-mb\t/)
})

test('forget prints a path in a form that it accepts', () => {
  using s = scratch({ 'a\nb': 'one\n', 'a\\nb': 'two\n' })
  s.run(['save'])
  expect(s.run(['forget', 'a\nb', '--dry-run']).stdout).toContain('This removes "a\\nb" from 1')
  expect(s.run(['forget', 'a\\nb', '--dry-run']).stdout).toContain('This removes a\\nb from 1')
  expect(s.run(['forget', '"a\\nb"', '-y']).stdout).toContain('Forgot "a\\nb": removed from 1')
})
