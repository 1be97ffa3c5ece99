// `savestate run`: input, output, signals and exit code of the command are the same as without us, and its changes are saved.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { PROGRAM, type Scratch, scratch, steady } from '../program.js'

type Ended = {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
}

test('run saves before and after a command, reports the changes, and they can be undone', () => {
  using s = scratch({ 'a.txt': 'one\n', 'gone.txt': 'x\n' })
  const script = 'echo two >> a.txt; echo new > b.txt; rm gone.txt; echo said; exit 7'
  const ended = s.run(['run', '--', 'sh', '-c', script])
  expect({ ...ended, stderr: steady(ended.stderr) }).toEqual({
    code: 7,
    stdout: 'said\n',
    stderr: `savestate: 3 files changed while it ran, +2 −1.
  a.txt  +1 −0
  b.txt  +1 −0
  gone.txt  +0 −1
See it:   savestate diff <id> <id>
Undo it:  savestate rewind <id>
`,
  })
  expect(s.json(['list'])).toMatchObject({
    checkpoints: [{ reason: `Run: sh -c '${script}'` }, { reason: `Before: sh -c '${script}'` }],
  })
  const [, back = ''] = /Undo it: {2}(.*)/.exec(ended.stderr) ?? []
  expect(s.shell(`${back} --yes`)).toMatchObject({ code: 0 })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one\n')
  expect([existsSync(join(s.project, 'b.txt')), existsSync(join(s.project, 'gone.txt'))]).toEqual([
    false,
    true,
  ])
})

test('input, arguments and umask reach the command, and stdout is its own', () => {
  using s = scratch()
  const script = String.raw`
    umask 027
    printf 'in\000put\377' | savestate run --json -m why -- sh -c '
      umask; cat; printf "<%s>" "$@"; echo err >&2' name -- --json é 'a b' '' > "$HOME/out" 2> "$HOME/err"`
  expect(s.shell(script)).toEqual({ code: 0, stdout: '', stderr: '' })
  const home = s.environment['HOME'] ?? ''
  expect(readFileSync(join(home, 'out'), 'latin1')).toBe(
    '0027\nin\0put\xff<--><--json><\xc3\xa9><a b><>',
  )
  const lines = readFileSync(join(home, 'err'), 'utf8').split('\n')
  expect(lines).toEqual(['err', expect.any(String), ''])
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({
    exitCode: 0,
    signal: null,
    checkpoints: 0,
    files: 0,
    changes: [],
    complete: true,
    error: null,
  })
  const { checkpoints } = s.json(['list']) as { checkpoints: { reason: string }[] }
  expect(checkpoints.map(({ reason }) => reason)).toEqual(['why'])
})

test('a variable that is not UTF-8 reaches the command to the byte', () => {
  using s = scratch()
  const script = String.raw`
    X=$(printf 'v\351=\n\001x') Y=é savestate run -- sh -c 'printf "<%s>" "$X" "$Y" "$@"' name 'a b' '' > "$HOME/out" 2> /dev/null`
  expect(s.shell(script)).toEqual({ code: 0, stdout: '', stderr: '' })
  const out = readFileSync(join(s.environment['HOME'] ?? '', 'out'), 'latin1')
  expect(out).toBe('<v\xe9=\n\x01x><\xc3\xa9><a b><>')
})

test('an argument that is not UTF-8 is refused before anything is saved', () => {
  using s = scratch()
  const script = String.raw`savestate run -- touch "$(printf 'b\351')"`
  expect(s.shell(script)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Error: An argument of the command is not UTF-8 text.\n'),
  })
  expect(s.json(['list'])).toEqual({ checkpoints: [] })
})

test('run saves when changes stop during the command, and leaves a child that outlives it alone', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  // No one waits for the background child: it holds no pipe of ours.
  const script = `echo two > a.txt
    until test -e '${s.folder}/go'; do sleep 0.1; done
    (until test -e '${s.folder}/late'; do sleep 0.1; done; echo > '${s.folder}/done') >/dev/null 2>&1 &
    echo three > a.txt`
  const running = start(s, ['run', '--', 'sh', '-c', script])
  await until(() => countOf(s) === 2)
  writeFileSync(join(s.folder, 'go'), '')
  expect(await running.ended).toMatchObject({ code: 0, signal: null })
  expect(countOf(s)).toBe(3)
  expect(existsSync(join(s.folder, 'done'))).toBe(false)
  writeFileSync(join(s.folder, 'late'), '')
  await until(() => existsSync(join(s.folder, 'done')))
})

test('a command that cannot start ends as in a shell: 127, 126', () => {
  using s = scratch({ plain: 'text\n' })
  chmodSync(join(s.project, 'plain'), 0o644)
  expect(s.run(['run', '--', 'no-such-program', 'x'])).toEqual({
    code: 127,
    stdout: '',
    stderr: 'savestate: no-such-program: command not found\n',
  })
  expect(s.run(['run', '--', ''])).toMatchObject({ code: 127 })
  expect(s.run(['run', '--', './plain'])).toEqual({
    code: 126,
    stdout: '',
    stderr: 'savestate: ./plain: permission denied\n',
  })
  expect(s.run(['run', 'true'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('missing; it goes after --'),
  })
})

test('a store that cannot be opened stops no command', () => {
  using s = scratch()
  writeFileSync(s.home, 'a file')
  const { code, stdout, stderr } = s.run(['run', '--', 'sh', '-c', 'echo done; exit 3'])
  expect({ code, stdout }).toEqual({ code: 3, stdout: 'done\n' })
  expect(stderr).toContain('the command runs anyway')
  expect(stderr).toContain('nothing is saved. The command was not disturbed.\nError: ')
})

test('a signal to us alone reaches the command once; the command handles it, and the result is saved', async () => {
  using s = scratch()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR1'] as const) {
    const running = start(s, ['run', '--', 'sh', '-c', catching(signal)])
    await until(() => running.output().includes('ready'))
    running.kill(signal)
    const { code, signal: by, output } = await running.ended
    expect({ signal, code, by, got: output.match(/got/g) }).toEqual({
      signal,
      code: 9,
      by: null,
      got: ['got'],
    })
  }
  expect(readFileSync(join(s.project, 'left.txt'), 'utf8')).toBe('SIGUSR1\n')
  expect(countOf(s)).toBe(5)
})

test('a signal to the whole group reaches it once too', async () => {
  using s = scratch()
  const running = start(s, ['run', '--', 'sh', '-c', catching('SIGTERM')], { isLeader: true })
  await until(() => running.output().includes('ready'))
  process.kill(-running.pid, 'SIGTERM')
  const { code, output } = await running.ended
  expect(code).toBe(9)
  expect(output.match(/got/g)).toEqual(['got'])
})

test('if a signal kills the command, we end by the same signal', async () => {
  using s = scratch()
  for (const signal of ['SIGKILL', 'SIGINT', 'SIGTERM'] as const) {
    const script = `echo ${signal} > a.txt; kill -${signal.slice(3)} $$`
    const { ended } = start(s, ['run', '--', 'sh', '-c', script])
    expect(await ended).toMatchObject({ code: null, signal })
  }
  expect(countOf(s)).toBe(4)
})

test('on a terminal the command owns the terminal and Ctrl-C, and the report comes after it', () => {
  using s = scratch()
  const inner = `trap 'echo got; exit 5' INT; test -t 0 && test -t 1 && test -t 2 && echo terminal
    stty size; echo x > a.txt; kill -INT 0; sleep 5`
  writeFileSync(join(s.folder, 'inner'), inner)
  const line = `stty rows 33 cols 99; trap : INT; savestate run -- sh ../inner; echo "code $?"`
  // In a session of its own: `script` gives it a terminal.
  const { status, stdout } = spawnSync('script', ['-qec', line, '/dev/null'], {
    cwd: s.project,
    env: { ...s.environment, SHELL: '/bin/sh', NO_COLOR: '1' },
    encoding: 'utf8',
    input: '',
  })
  expect(status).toBe(0)
  expect(stdout).toContain('terminal\r\n33 99\r\n')
  expect(stdout.match(/got/g)).toEqual(['got'])
  expect(stdout).toMatch(/1 file changed while it ran[^]*Undo it[^]*code 5/)
})

/** Counts how often the signal came within half a second. */
function catching(signal: string): string {
  return `trap 'echo got' ${signal.slice(3)}; echo ready
    for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; echo ${signal} > left.txt; exit 9`
}

function start(s: Scratch, args: readonly string[], { isLeader = false } = {}) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: s.project,
    env: s.environment,
    detached: isLeader,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => (output += String(text)))
  return {
    pid: child.pid ?? 0,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    output: () => output,
    ended: new Promise<Ended>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve({ code, signal, output }))
    }),
  }
}

function countOf(s: Scratch): number {
  return (s.json(['list']) as { checkpoints: object[] }).checkpoints.length
}

async function until(holds: () => boolean): Promise<void> {
  for (let look = 0; look < 300 && !holds(); look++) await sleep(100)
  expect(holds()).toBe(true)
}
