// `savestate bisect` with real commands: exit codes, time limits, signals and `kill -9`.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../program.js'

/** Checkpoints whose file `n` counts up from 1. Returns their ids, oldest first. */
function history(s: Scratch, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    s.write({ n: `${at + 1}\n` })
    return (s.json(['save', '-m', `step ${at + 1}`]) as { id: string }).id
  })
}

const throwaways = (s: Scratch) =>
  readdirSync(join(s.folder, 'user')).filter((name) => name.startsWith('savestate-bisect-'))

test('the answer names the checkpoint, its diff, and the command that undoes it', () => {
  using s = scratch({ '.gitignore': 'node_modules\n', 'node_modules/dep/limit': '4' })
  const ids = history(s, 8)
  const script = 'test "$(cat n)" -le "$(cat node_modules/dep/limit)"'
  const ended = s.run(['bisect', '--retries', '0', '--', 'sh', '-c', script])
  const short = (n: number) => ids[n - 1]?.slice(0, 8)
  expect(ended).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(
        `^First bad ${ids[4]?.slice(0, 4)}\\w* \\(just now\\), found with 5 checkpoints
Message   step 5
Undo with savestate undo ${ids[4]?.slice(0, 4)}\\w*

diff --git a/n b/n
.*
-4
\\+5
$`,
        's',
      ),
    ),
    stderr: `savestate: testing ${short(8)}
savestate: ${short(8)} is bad
savestate: testing ${short(1)}
savestate: ${short(1)} is good
savestate: testing ${short(4)}; at most 2 more to test
savestate: ${short(4)} is good
savestate: testing ${short(6)}; at most 1 more to test
savestate: ${short(6)} is bad
savestate: testing ${short(5)}; at most 0 more to test
savestate: ${short(5)} is bad
`,
  })
  expect(throwaways(s)).toEqual([])
})

test('--json has the answer, and an exit code of 125 skips', () => {
  using s = scratch()
  const ids = history(s, 5)
  const script = 'case $(cat n) in 1) exit 0;; 2|3) exit 125;; *) exit 9;; esac'
  const { code, stdout } = s.run(['bisect', '--json', '--retries', '0', '--', 'sh', '-c', script])
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    {
      checkpoint: ids[3],
      prompt: null,
      tool: null,
      runs: [
        { checkpoint: ids[4], verdict: 'bad', outcomes: ['bad'] },
        { checkpoint: ids[0], verdict: 'good', outcomes: ['good'] },
        { checkpoint: ids[2], verdict: 'skip', outcomes: ['skip'] },
        { checkpoint: ids[1], verdict: 'skip', outcomes: ['skip'] },
        { checkpoint: ids[3], verdict: 'bad', outcomes: ['bad'] },
      ],
      candidates: [ids[1], ids[2], ids[3]],
    },
  ])
})

test('the command works in a copy, without our variables and without input', () => {
  using s = scratch()
  history(s, 2)
  const out = join(s.folder, 'out')
  const script = `{ pwd; env | grep -c '^SAVESTATE_'; cat; } >> '${out}'; touch made; test "$(cat n)" = 1`
  expect(
    s.run(['bisect', '--retries', '0', '--', 'sh', '-c', script], { input: 'x' }),
  ).toMatchObject({
    code: 0,
  })
  const [folder = '', ...lines] = readFileSync(out, 'utf8').split('\n')
  expect(folder.startsWith(join(s.folder, 'user', 'savestate-bisect-'))).toBe(true)
  expect(lines).toEqual(['0', folder, '0', ''])
  expect(readdirSync(s.project)).toEqual(['n'])
})

test('a run that takes too long counts as failed, and is ended with everything it started', () => {
  using s = scratch()
  const ids = history(s, 2)
  const pids = join(s.folder, 'pids')
  const script = `test "$(cat n)" = 1 && exit 0; sleep 300 & echo $! >> '${pids}'; wait`
  const ended = s.run([
    'bisect',
    '--json',
    '--timeout',
    '1',
    '--retries',
    '1',
    '--',
    'sh',
    '-c',
    script,
  ])
  expect(JSON.parse(ended.stdout)).toMatchObject({
    checkpoint: ids[1],
    runs: [{ outcomes: ['bad', 'bad'] }, { outcomes: ['good'] }],
  })
  expect(ended.stderr.match(/ended after 1 s/g)).toHaveLength(2)
  const alive = readFileSync(pids, 'utf8').trim().split('\n').filter(isRunning)
  expect(alive).toEqual([])
})

test('wrong ends, wrong references and a missing command are errors', () => {
  using s = scratch()
  const ids = history(s, 3)
  const problem = (...args: string[]) => {
    const { code, stderr } = s.run(['bisect', '--json', ...args])
    const [text = ''] = /^\{[^]*/m.exec(stderr) ?? []
    return [code, (JSON.parse(text) as { error: { code: string; message: string } }).error.code]
  }
  expect([
    problem('--', 'true'),
    problem('--', 'false'),
    problem('--good', 'nobody', '--', 'false'),
    problem('--good', '1', '--bad', '3', '--', 'false'),
    problem('--', 'savestate-no-such-command'),
    problem('--timeout', '0', '--', 'false'),
  ]).toEqual([
    [2, 'BISECT_ENDS'],
    [2, 'BISECT_ENDS'],
    [2, 'CHECKPOINT_UNKNOWN'],
    [2, 'BAD_INPUT'],
    [2, 'BAD_INPUT'],
    [2, 'BAD_INPUT'],
  ])
  expect(s.run(['bisect', '--', 'true']).stderr).toContain(
    `Error: The bad end, checkpoint ${ids[2]}, is good.`,
  )
  expect(throwaways(s)).toEqual([])
})

/** A command that notes each state it is started in, and waits at one of them until the file `go` exists. */
function waitingAt(s: Scratch, n: number): readonly string[] {
  const log = join(s.folder, 'log')
  const go = join(s.folder, 'go')
  const script = `n=$(cat n); echo $n >> '${log}'; if [ $n = ${n} ]; then while [ ! -e '${go}' ]; do sleep 0.05; done; fi; test $n -lt 6`
  return ['bisect', '--retries', '0', '--', 'sh', '-c', script]
}

const tested = (s: Scratch) => {
  const log = join(s.folder, 'log')
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').map(Number) : []
}

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'after %s the same command continues with its results',
  async (signal) => {
    using s = scratch()
    const ids = history(s, 9)
    const command = waitingAt(s, 7)
    const { kill, ended } = s.start(command)
    while (tested(s).at(-1) !== 7) await sleep(20)
    kill(signal)
    // A killed process cannot end its command, which keeps our stderr open.
    if (signal === 'SIGKILL') writeFileSync(join(s.folder, 'go'), '')
    const { code, stderr } = await ended
    const isKilled = signal === 'SIGKILL'
    expect([code, throwaways(s).length]).toEqual(isKilled ? [null, 1] : [130, 0])
    expect(stderr.includes('Error: Interrupted before the answer was known.')).toBe(!isKilled)
    expect(tested(s)).toEqual([9, 1, 5, 7])
    writeFileSync(join(s.folder, 'go'), '')
    const again = s.run(['--json', ...command])
    expect(JSON.parse(again.stdout)).toMatchObject({ checkpoint: ids[5] })
    expect(again.stderr).toContain(`savestate: ${ids[8]?.slice(0, 8)} is bad (result kept)`)
    expect(tested(s).slice(4)).toEqual([7, 6])
    expect(throwaways(s)).toEqual([])
    // The answer was given: the next bisect starts over.
    s.run(command)
    expect(tested(s).slice(6, 8)).toEqual([9, 1])
  },
)

test('--restart forgets the kept results', async () => {
  using s = scratch()
  history(s, 9)
  const [name = '', ...rest] = waitingAt(s, 7)
  const { kill, ended } = s.start([name, ...rest])
  while (tested(s).at(-1) !== 7) await sleep(20)
  kill('SIGTERM')
  await ended
  writeFileSync(join(s.folder, 'go'), '')
  s.run([name, '--restart', ...rest])
  expect(tested(s).slice(4)).toEqual([9, 1, 5, 7, 6])
})

test('a folder for temporary files in the project is refused', () => {
  using s = scratch()
  s.write({ 'tmp/x': '' })
  history(s, 2)
  expect(
    s.run(['bisect', '--', 'false'], { env: { TMPDIR: join(s.project, 'tmp') } }),
  ).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Error: The folder for temporary files is in the project.'),
  })
})

function isRunning(pid: string): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}
