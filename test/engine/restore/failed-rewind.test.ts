// After a failed rewind the error says whether anything was changed, and which command repeats it, by id. A number is
// refused, because it means another checkpoint now.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CheckpointView } from '../../../src/index.js'
import { PROGRAM, scratch } from '../../cli/program.js'
import { smallDisk } from '../../support/small-disk.js'

type Listed = { readonly checkpoints: readonly CheckpointView[] }

const MB = 1024 * 1024

test('on a full disk nothing is changed, and the printed command repeats the rewind', async () => {
  using s = scratch()
  using disk = await smallDisk(join(s.folder, 'disk'), 16)
  const [project, seen] = [join(disk.path, 'project'), join(disk.seen, 'project')]
  mkdirSync(seen)
  const env = { ...s.environment, NO_COLOR: '1' }
  const run = (args: readonly string[], freeBytes?: number) =>
    disk.run([PROGRAM, '-C', project, ...args], {
      env,
      ...(freeBytes === undefined ? {} : { freeBytes }),
    })
  const content = Buffer.alloc(4 * MB, 'content that does not fit\n')
  writeFileSync(join(seen, 'r.bin'), content)
  writeFileSync(join(seen, 'a.txt'), 'one')
  expect(run(['save', '-m', 'good']).code).toBe(0)
  const list = () =>
    (JSON.parse(run(['list', '--json']).stdout) as Listed).checkpoints.map(({ id }) => id)
  const [good = ''] = list()
  writeFileSync(join(seen, 'a.txt'), 'two')
  writeFileSync(join(seen, 'r.bin'), '')
  const failed = run(['rewind', '1', '--path', 'r.bin', '--yes'], 200 * 1024)
  expect([failed.code, failed.stdout]).toEqual([2, ''])
  expect(failed.stderr).toMatch(
    /^Error: The disk is full: ENOSPC: .*'\/.*\/disk\/project\/r\.bin'\./,
  )
  const mountPoint = disk.kind === 'tmpfs' ? disk.path : '/.*'
  expect(failed.stderr).toMatch(
    new RegExp(
      `\nNothing was changed: everything that had been written was reverted\\. Free some space \\(the disk mounted at ${mountPoint}\\), ` +
        `then repeat it: savestate -C ${project} rewind ${good} --path r\\.bin\nFree now: .* MB on the disk .*\n$`,
    ),
  )
  expect(readFileSync(join(seen, 'r.bin')).length).toBe(0)
  // The number means the safety checkpoint now.
  expect(list()).toHaveLength(2)
  const byNumber = run(['rewind', '1', '--yes'])
  expect([byNumber.code, byNumber.stdout]).toEqual([2, ''])
  expect(byNumber.stderr).toContain('The number 1 may mean another checkpoint than before')
  expect(byNumber.stderr).toContain(`: savestate -C ${project} rewind ${good}\n`)
  expect(run(['rewind', good, '--path', 'r.bin', '--yes']).code).toBe(0)
  expect(readFileSync(join(seen, 'r.bin')).equals(content)).toBe(true)
  expect(readdirSync(seen).sort()).toEqual(['a.txt', 'r.bin'])
  // After a complete rewind, numbers are valid again.
  expect(run(['rewind', '1', '--yes'])).toMatchObject({ code: 0 })
})

test.each(['restore:journaled', 'restore:applied', 'restore:after-row'])(
  'after a kill at %s a number is refused, and the printed command completes the rewind',
  (point) => {
    using s = scratch()
    for (const text of ['one', 'two', 'three']) {
      s.write({ 'a.txt': text })
      s.run(['save', '-m', text])
    }
    s.write({ 'a.txt': 'mine' })
    const { checkpoints } = s.json(['list']) as Listed
    const { id = '' } = checkpoints.find(({ reason }) => reason === 'two') ?? {}
    const killed = s.run(['rewind', '2', '--yes'], { env: { SAVESTATE_FAILPOINT: point } })
    expect(killed.code).not.toBe(0)
    const again = s.run(['rewind', '2', '--yes'])
    expect([again.code, again.stdout]).toEqual([2, ''])
    expect(again.stderr).toBe(
      'Error: The number 2 may mean another checkpoint than before: the last rewind was interrupted, and the next command finishes it.\n' +
        `Repeat that rewind: savestate rewind ${id}\nTo rewind to another checkpoint, type its id from \`savestate list\`.\n`,
    )
    expect(s.run(['rewind', id, '--yes']).code).toBe(0)
    expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two')
    expect(s.run(['undo', '--yes']).code).toBe(0)
    expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('mine')
    expect(s.run(['rewind', '1', '--yes']).code).toBe(0)
  },
)
