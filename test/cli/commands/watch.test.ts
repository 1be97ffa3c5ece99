// `savestate watch` saves when changes stop, prints each checkpoint, and ends with everything saved.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../program.js'

test('a folder is saved whenever changes stop, and at the end', async () => {
  using s = scratch({ 'a.txt': 'a\n' })
  const watching = s.start(['watch', '--quiet', '1', '-m', 'by the watch'])
  await until(() => countOf(s) === 1)
  s.write({ 'b.txt': 'b\n' })
  await until(() => countOf(s) === 2)
  const { watches } = s.json(['status']) as { watches: object[] }
  s.write({ 'c.txt': 'c\n' })
  watching.kill('SIGINT')
  const { code, stdout, stderr } = await watching.ended
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `Watching ${s.project}. Stop with Ctrl-C.\n`,
  })
  expect(stdout).toMatch(/^(?:\d\d:\d\d:\d\d  [a-z]{4,18}  1 file \+1 −0\n){3}$/)
  expect(watches).toMatchObject([{ path: s.project, isWatching: true, fullScans: 0 }])
  expect(s.json(['status'])).toMatchObject({ watches: [] })
  expect(s.json(['list'])).toMatchObject({
    checkpoints: [
      { files: 1, reason: 'by the watch' },
      { files: 1, reason: 'by the watch' },
      { files: 1, reason: 'by the watch' },
    ],
  })
})

test('as JSON each checkpoint is a line', async () => {
  using s = scratch({ 'a.txt': 'a\n' })
  const watching = s.start(['watch', '--json'])
  await until(() => countOf(s) === 1)
  watching.kill('SIGTERM')
  const { code, stdout, stderr } = await watching.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ created: true, files: 1 })
})

test('the last changes are saved when the terminal is closed', async () => {
  using s = scratch({ 'a.txt': 'a\n' })
  const watching = s.start(['watch'])
  await until(() => countOf(s) === 1)
  s.write({ 'b.txt': 'b\n' })
  watching.kill('SIGHUP')
  expect((await watching.ended).code).toBe(0)
  expect(countOf(s)).toBe(2)
})

test('removing the folder ends it with an error', async () => {
  using s = scratch({ 'a.txt': 'a\n' })
  const watching = s.start(['watch'])
  await until(() => countOf(s) === 1)
  s.shell(`rm -r '${s.project}'`, { cwd: s.folder })
  const { code, stderr } = await watching.ended
  expect(code).toBe(2)
  expect(stderr).toContain('There is no folder')
})

function countOf(s: Scratch): number {
  return (s.json(['list']) as { checkpoints: object[] }).checkpoints.length
}

async function until(holds: () => boolean): Promise<void> {
  for (let look = 0; look < 300 && !holds(); look++) await sleep(100)
  expect(holds()).toBe(true)
}
