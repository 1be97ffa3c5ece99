// `savestate prune`, and the limit on the size of files that a save takes.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { PruneResult } from '../../../src/index.js'
import { prepared, scratch } from '../program.js'
import { answered, count, setStore, threeCheckpoints } from './maintenance-helpers.js'

const withCheckpoints = prepared(threeCheckpoints)

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
