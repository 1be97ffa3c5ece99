// I6: what the next command does with a killed rewind if the folder has changed since, and what it reports.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { restoreScratch } from '../support/saved-scratch.js'
import { CrashScenario, type World } from './crash-scenario.js'

let crash: CrashScenario

beforeAll(async () => {
  crash = await CrashScenario.create()
})

afterAll(() => crash.s.dispose())

describe('edits of the user after the kill are kept', () => {
  const points = [
    'restore:journaled',
    'apply:staged',
    'apply:aside@2',
    'apply:removed',
    'apply:place@2',
    'apply:placed',
    'restore:applied',
    'asides:removed',
    'restore:before-row',
  ]
  const edits: Readonly<Record<string, string>> = {
    'modified.txt': 'edited by hand after the kill\n',
    'deep/er/deleted.txt': 'written anew by hand\n',
    'created.txt': 'edited by hand, though made later\n',
    'brand-new.txt': 'nothing knows of it\n',
  }
  test.each(points)('rewind at %s, then edits', async (point) => {
    crash.kill('rewind', point)
    crash.s.write(edits)
    const edited = crash.s.snapshotOf()
    await crash.withProject((project) => project.list())
    const world = crash.s.snapshotOf()
    const ofEdits = (of: World) => Object.keys(edits).map((path) => of.get(path))
    expect(ofEdits(world)).toEqual(ofEdits(edited))
    const others = (of: World) => new Map([...of].filter(([path]) => !(path in edits)))
    const { before, after } = crash.stories.rewind
    expect([others(before), others(after)]).toContainEqual(others(world))
    await crash.withProject((project, store) => crash.expectSound(project, store))
  })
})

test('a rewind that an uncaptured file blocks is undone', async () => {
  crash.kill('rewind', 'apply:staged')
  mkdirSync(join(crash.s.project, 'deep/er'), { recursive: true })
  execFileSync('mkfifo', [join(crash.s.project, 'deep/er/deleted.txt')])
  const notices: string[] = []
  await crash.withProject(async (project) => {
    await project.list({ onWarning: (text) => notices.push(text) })
  })
  expect(notices.join()).toContain('undone')
  const world = crash.s.snapshotOf()
  expect(world.get('deep/er/deleted.txt')?.type).toBe('special')
  world.delete('deep/er/deleted.txt')
  expect(world).toEqual(crash.stories.rewind.before)
  rmSync(join(crash.s.project, 'deep/er/deleted.txt'))
  await crash.withProject((project, store) => crash.expectSound(project, store))
})

test('if the second attempt cannot finish either, the changes of the first are undone too', async () => {
  crash.kill('rewind', 'apply:place@3')
  crash.runChild([['list']], 'apply:place')
  execFileSync('mkfifo', [join(crash.s.project, 'zz/deleted.txt')])
  await crash.withProject((project) => project.list())
  const world = crash.s.snapshotOf()
  world.delete('zz/deleted.txt')
  expect(world).toEqual(crash.stories.rewind.before)
  rmSync(join(crash.s.project, 'zz/deleted.txt'))
  await crash.withProject((project, store) => crash.expectSound(project, store))
})

test('a checkpoint has a file that a killed rewind moved aside and a program wrote to since', async () => {
  crash.kill('rewind', 'apply:aside')
  const isAside = (path: string) => path.includes('.savestate-old-')
  const aside = [...crash.s.snapshotOf().keys()].find(isAside)
  const written = 'written through an open file after the kill\n'
  crash.s.write({ [aside ?? '']: written })
  const notices: string[] = []
  await crash.withProject(async (project, store) => {
    await project.list({ onWarning: (text) => notices.push(text) })
    expect([...crash.s.snapshotOf().keys()].filter(isAside)).toEqual([])
    const [saved] = (await project.list()).filter(({ reason }) =>
      reason?.startsWith('during rewind'),
    )
    const { changes } = await project.diff(crash.ids.second, { to: saved?.id ?? '' })
    const texts = changes.map(({ path }) => path)
    expect(notices[0]).toMatch(new RegExp(`^A program wrote to (?:${texts.join('|')}) while`))
    expect(blobsOfCheckpoints()).toContain(hashOf(written))
    await crash.expectSound(project, store)
  })
})

function blobsOfCheckpoints(): string[] {
  const git = ['--git-dir', join(crash.s.home, 'objects.git'), 'rev-list', '--all', '--objects']
  const lines = execFileSync('git', git, { encoding: 'utf8' }).split('\n')
  return lines.map((line) => line.slice(0, 40))
}

function hashOf(text: string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex')
}

test('recovery restores the mode of a read-only folder', async () => {
  restoreScratch(crash.s, 'third')
  crash.s.write({ 'deep/er': { folder: 0o555 } })
  const before = crash.s.snapshotOf()
  crash.runChild(
    [['rewind', { to: crash.ids.first, paths: ['deep/er/changed.txt'] }]],
    'apply:place',
  )
  await crash.withProject((project) => project.list())
  const world = crash.s.snapshotOf()
  expect(world.get('deep/er')).toEqual(before.get('deep/er'))
})

test('the next command reports that it finished an interrupted operation', async () => {
  crash.kill('rewind', 'apply:placed')
  const notices: string[] = []
  const reason = await crash.withProject(async (project) => {
    await project.list({ onWarning: (text) => notices.push(text) })
    return (await project.list({ limit: 1 }))[0]?.reason
  })
  expect(reason).toBe(`rewind to "first" (${crash.ids.first.slice(0, 8)})`)
  expect(notices).toEqual([`An interrupted rewind has been finished: ${reason}.`])
})
