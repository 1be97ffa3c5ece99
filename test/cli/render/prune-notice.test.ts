// The next list or status on a terminal reports once what an automatic prune removed.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { StatusResult } from '../../../src/index.js'
import { noticeText } from '../../../src/cli/render/prune-notice.js'
import { type Scratch, scratch } from '../program.js'

/** As the store prunes itself, without the wait. */
function pruneItself(s: Scratch): void {
  const program = join(import.meta.dirname, '../../../dist/cli/prune-process.js')
  execFileSync(process.execPath, [program, s.home])
}

const onTerminal = (s: Scratch, command: string) =>
  s.shell(`script -qec 'savestate ${command}' /dev/null`).stdout

function savedThrice(config: object): Scratch {
  const s = scratch()
  mkdirSync(s.home, { recursive: true, mode: 0o700 })
  const settings = { autoPrune: false, ...config }
  writeFileSync(join(s.home, 'config.json'), JSON.stringify(settings), { mode: 0o600 })
  for (const text of ['1', '2', '3']) {
    s.write({ a: text })
    s.run(['save'])
  }
  return s
}

test.each(['list', 'status'])('%s on a terminal reports it once', (command) => {
  using s = savedThrice({ keepAllHours: 0 })
  expect(onTerminal(s, command)).not.toContain('Pruned')
  pruneItself(s)
  // Not to a program, which would hide it from the user.
  expect(s.run(['list']).stderr).toBe('')
  expect((s.json(['status']) as StatusResult).autoPruned).toMatchObject({
    checkpoints: 2,
    byReason: { prompts: 2 },
    isShown: false,
  })
  const shown = onTerminal(s, command)
  expect(shown).toMatch(
    /Pruned just now: 2 checkpoints thinned to one per prompt \(freed [\d.]+ (KB|bytes)\)\./,
  )
  expect(shown).toContain('To keep more: savestate config set keepAllHours N')
  expect(onTerminal(s, command)).not.toContain('Pruned')
  expect((s.json(['status']) as StatusResult).autoPruned?.isShown).toBe(true)
})

test('a prune that removed nothing is not reported', () => {
  using s = savedThrice({})
  pruneItself(s)
  expect((s.json(['status']) as StatusResult).autoPruned).toBeNull()
  expect(s.run(['status']).stderr).toBe('')
})

test('two prunes before it is shown are reported together', () => {
  using s = savedThrice({ keepAllHours: 0 })
  pruneItself(s)
  s.write({ a: '4' })
  s.run(['save'])
  pruneItself(s)
  expect((s.json(['status']) as StatusResult).autoPruned).toMatchObject({ checkpoints: 3 })
})

test('the text names every reason, the undo that is gone, and the setting to change', () => {
  const now = new Date('2026-01-02T12:00:00Z')
  const record = {
    at: new Date('2026-01-02T00:00:00Z'),
    checkpoints: 50,
    byReason: { prompts: 47, days: 1, size: 2 },
    sessions: 1,
    prunedFiles: 3,
    bytesReclaimed: 12_000_000,
    forgottenUndo: ['/home/you/demo'],
    isShown: false,
  }
  expect(noticeText(record, now)).toBe(
    [
      'Pruned 12 h ago: 47 checkpoints thinned to one per prompt, 1 checkpoint thinned to one per day, 2 checkpoints removed to make the store smaller, the files of 3 checkpoints removed, 1 session removed (freed 12.0 MB).',
      'The last rewind of /home/you/demo can no longer be undone.',
      'To keep more: savestate config set keepAllHours N',
      'To keep more: savestate config set keepPromptsDays N',
      'To keep more: savestate config set maxSizeMb N',
    ].join('\n'),
  )
  // The setting is the one that would have kept what was removed.
  const settingFor = (byReason: object) =>
    noticeText({ ...record, byReason, prunedFiles: 0 }, now)
      .split('\n')
      .flatMap((line) => /^To keep more: savestate config set (.*?) N\b/.exec(line)?.[1] ?? [])
  expect(settingFor({ days: 3 })).toEqual(['keepPromptsDays'])
  expect(settingFor({ age: 3 })).toEqual([expect.stringContaining('keepDailyDays')])
  expect(settingFor({ size: 3 })).toEqual(['maxSizeMb'])
})
