// A killed process whose parent never waits for it (a container without an init, a supervisor with a bug) stays in the
// process table as a zombie. It counts as dead: its session can be resumed at once, and it watches nothing any more.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { scratch } from '../../support/scratch.js'

const SDK = new URL('../../../dist/index.js', import.meta.url).href

function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
}

test('the leases and watches of a zombie process do not count', async () => {
  await using s = await scratch({ files: { a: '1' } })
  s.write(
    {
      'agent.mjs': `
          import { openStore } from ${JSON.stringify(SDK)}
          const store = await openStore({ home: process.argv[2], durability: 'process' })
          const project = await store.project(process.argv[3], { watch: true })
          await project.save()
          const session = await store.session('task', { project })
          await session.save({ state: { step: 1 } })
          process.stdout.write(process.pid + '\\n')
          setInterval(() => {}, 1000)
        `,
    },
    s.folder,
  )
  // The shell execs a program that never waits for its child.
  const shell = spawn(
    'sh',
    ['-c', '"$@" & exec sleep 600', 'sh', process.execPath, 'agent.mjs', s.home, s.project],
    { cwd: s.folder, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  try {
    const [line] = (await once(shell.stdout, 'data')) as [Buffer]
    const pid = Number(line.toString())
    const store = await s.open()
    expect((await store.status()).watches).toMatchObject([{ pid }])
    await expect(store.resume('task')).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    process.kill(pid, 'SIGKILL')
    while (stateOf(pid) !== 'Z') await sleep(5)
    const { state } = await store.resume('task')
    expect(state).toEqual({ step: 1 })
    expect((await store.status()).watches).toEqual([])
    expect(stateOf(pid)).toBe('Z')
  } finally {
    shell.kill('SIGKILL')
  }
})
