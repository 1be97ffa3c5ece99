// The commands that remove what the user names: drop, clear, clear-legacy and forget.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startAgent } from '../agent.js'
import { prepared, scratch } from '../program.js'
import { answered, count, setStore, threeCheckpoints } from './maintenance-helpers.js'

const withCheckpoints = prepared(threeCheckpoints)

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
