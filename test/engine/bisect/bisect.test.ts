// `bisect`: the first bad checkpoint, from copies of checkpoints only.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { BisectCheck, BisectStep } from '../../../src/index.js'
import { locate, type Verdict } from '../../../src/engine/bisect/locate.js'
import { type Scratch, scratch } from '../../support/scratch.js'

test('the search finds every first bad state in log2 steps, and skips do not mislead it', () => {
  for (let count = 2; count <= 40; count += 1)
    for (let first = 1; first < count; first += 1)
      for (const skipped of [[], [first - 1], [first, first + 1]]) {
        const verdicts: (Verdict | undefined)[] = Array.from({ length: count }, () => undefined)
        let steps = 0
        let found = locate(verdicts)
        for (; found.next !== undefined; found = locate(verdicts), steps += 1)
          verdicts[found.next] = skipped.includes(found.next)
            ? 'skip'
            : found.next < first
              ? 'good'
              : 'bad'
        expect(found.good < first && first <= found.bad).toBe(true)
        const isExact = found.good === first - 1 && found.bad === first
        const isShort = steps <= Math.ceil(Math.log2(count))
        expect(skipped.length > 0 || (isExact && isShort)).toBe(true)
      }
})

/** Checkpoints `n` = 1 … count, oldest first. */
async function history(s: Scratch, count: number) {
  const store = await s.open()
  const project = await store.project(s.project)
  const ids: string[] = []
  for (let n = 1; n <= count; n += 1) {
    s.write({ n: `${n}`, 'same.txt': 'x' })
    ids.push((await project.save({ reason: `step ${n}` })).id)
  }
  return { store, project, ids }
}

const numberIn = (folder: string) => Number(readFileSync(join(folder, 'n'), 'utf8'))
const brokenSince =
  (first: number): BisectCheck =>
  (folder) =>
    numberIn(folder) < first ? 'good' : 'bad'

test('the first bad checkpoint is found, in a throwaway folder that is gone afterwards', async () => {
  await using s = await scratch()
  const { project, ids } = await history(s, 12)
  const before = s.snapshotOf()
  const folders = new Set<string>()
  const steps: BisectStep[] = []
  const result = await project.bisect({
    retries: 0,
    onStep: (step) => void steps.push(step),
    run(folder, details) {
      folders.add(folder)
      writeFileSync(join(folder, 'written'), 'by the command')
      return brokenSince(8)(folder, details)
    },
  })
  const run = (n: number, verdict: Verdict) => ({
    checkpoint: ids[n - 1],
    verdict,
    outcomes: [verdict],
  })
  expect(result).toEqual({
    checkpoint: ids[7],
    prompt: null,
    tool: null,
    runs: [
      run(12, 'bad'),
      run(1, 'good'),
      run(6, 'good'),
      run(9, 'bad'),
      run(7, 'good'),
      run(8, 'bad'),
    ],
  })
  expect(steps.filter(({ outcomes }) => outcomes === undefined).map(({ left }) => left)).toEqual([
    undefined,
    undefined,
    3,
    2,
    1,
    0,
  ])
  expect(s.snapshotOf()).toEqual(before)
  expect(
    [...folders].map((folder) => [folder.startsWith(s.project), existsSync(dirname(folder))]),
  ).toEqual([[false, false]])
})

test('prompt and tool call come from the hooks of the agent', async () => {
  await using s = await scratch({ files: { n: '1' } })
  const store = await s.open()
  const project = await store.project(s.project)
  await project.save()
  const session = await store.session('agent', { project })
  s.write({ n: '2' })
  const calls = ['Edit n']
  const metadata = {
    agentSession: 'a',
    at: 'after-tool',
    prompt: 'Break it',
    tool: 'Edit n',
    calls,
  }
  const { id } = await session.save({ files: true, metadata })
  expect(await project.bisect({ run: brokenSince(2) })).toMatchObject({
    checkpoint: id,
    prompt: 'Break it',
    tool: 'Edit n',
  })
})

test('work that is not saved yet is the bad end', async () => {
  await using s = await scratch()
  const { project } = await history(s, 2)
  s.write({ n: '3' })
  const { checkpoint } = await project.bisect({ run: brokenSince(3) })
  expect(await project.show(checkpoint)).toMatchObject({ reason: 'before bisect', author: 'you' })
})

test('a failure that does not repeat is no failure, and it is reported', async () => {
  await using s = await scratch()
  const { project, ids } = await history(s, 4)
  const seen = new Set<number>()
  const result = await project.bisect({
    retries: 2,
    run(folder) {
      const n = numberIn(folder)
      if (n === 4) return 'bad'
      const isFirst = !seen.has(n)
      seen.add(n)
      return isFirst && n === 3 ? 'bad' : 'good'
    },
  })
  expect(result.checkpoint).toBe(ids[3])
  expect(result.runs.map(({ outcomes }) => outcomes)).toEqual([
    ['bad', 'bad', 'bad'],
    ['good'],
    ['good'],
    ['bad', 'good'],
  ])
})

test('skipped checkpoints that hide the answer are named', async () => {
  await using s = await scratch()
  const { project, ids } = await history(s, 6)
  const run: BisectCheck = (folder) => {
    const n = numberIn(folder)
    return n === 3 || n === 4 ? 'skip' : n < 4 ? 'good' : 'bad'
  }
  const result = await project.bisect({ run })
  expect([result.checkpoint, result.candidates]).toEqual([ids[4], [ids[2], ids[3], ids[4]]])
})

test('wrong ends are refused', async () => {
  await using s = await scratch()
  const { project, ids } = await history(s, 4)
  const problem = (options: object) =>
    project.bisect({ run: brokenSince(3), retries: 0, ...options }).then(
      () => undefined,
      ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
    )
  expect([
    await problem({ bad: ids[1] }),
    await problem({ good: ids[2] }),
    await problem({ good: ids[3], bad: ids[0] }),
    await problem({ good: '1' }),
    await problem({ run: () => true }),
    await problem({ run: undefined }),
  ]).toEqual([
    `BISECT_ENDS: The bad end, checkpoint ${ids[1]}, is good`,
    `BISECT_ENDS: The good end, checkpoint ${ids[2]}, is bad`,
    `BAD_INPUT: The good checkpoint ${ids[3]} is newer than the bad one, ${ids[0]}`,
    'BAD_INPUT: The good and the bad end have the same files',
    "BAD_INPUT: The check of a bisect returned no 'good', 'bad' or 'skip'",
    expect.stringMatching(/^BAD_INPUT: bisect: run/),
  ])
})

test('an interrupted bisect continues with its results', async () => {
  await using s = await scratch()
  const { project, ids } = await history(s, 9)
  const stop = new AbortController()
  const tested: number[] = []
  const options = {
    resumeAs: 'npm test',
    retries: 0,
    run(folder: string) {
      tested.push(numberIn(folder))
      if (tested.length === 4) stop.abort()
      return brokenSince(4)(folder, { checkpoint: '', signal: undefined })
    },
  }
  await expect(project.bisect({ ...options, signal: stop.signal })).rejects.toMatchObject({
    name: 'AbortError',
  })
  expect(tested).toEqual([9, 1, 5, 3])
  // Work meanwhile does not lose the results.
  s.write({ n: '10' })
  await project.save()
  const result = await project.bisect({ ...options, bad: ids[8] as string })
  expect([result.checkpoint, tested.slice(4)]).toEqual([ids[3], [3, 4]])
  // The answer was given, so the next one starts over; so does --restart.
  tested.length = 0
  await project.bisect(options)
  expect(tested.slice(0, 2)).toEqual([10, 1])
})

test('a damaged checkpoint is skipped', async () => {
  await using s = await scratch()
  const { project, ids } = await history(s, 3)
  s.allowDamage()
  const blob = s.git(['hash-object', '--stdin'], { input: '2' })
  rmSync(join(s.home, 'objects.git', 'objects', blob.slice(0, 2), blob.slice(2)))
  const result = await project.bisect({ run: brokenSince(3) })
  expect([result.checkpoint, result.runs.map(({ verdict }) => verdict)]).toEqual([
    ids[2],
    ['bad', 'good', 'skip'],
  ])
})
