// The daemon behind the hooks: over HTTP if the agent supports it, and killed in the middle of a turn.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { type Case, NOT_HERE, type Scene, START_FILES, turn, withScene } from '../case.js'
import { endGroup, isAlive, start, until } from '../drive.js'
import { scripted } from '../model-server/script.js'
import { filesOf, type Sandbox } from '../install-folder.js'
import { checkpoints, connect, rewind, savestate } from '../savestate.js'

const DONE = { 'a.txt': 'written\n', 'b.txt': 'changed\n' }

export const DAEMON_CASES: readonly Case[] = [
  {
    claim: 'with hooks over HTTP the list reads the same',
    prove: (bed) =>
      !bed.agent.habits.hasHttpHooks
        ? NOT_HERE
        : withScene(bed, async (scene) => {
            const { sandbox } = scene
            await connect(scene, ['--http'])
            const steps = [
              { write: 'a.txt', content: 'written\n' },
              { shell: 'echo changed > b.txt' },
              { shell: 'rm c.txt' },
              { say: 'All done.' },
            ]
            await turn(scene, scripted('turn one', steps))
            assert.deepEqual(filesOf(sandbox), DONE)
            const all = await checkpoints(sandbox)
            const reasons = all.map(({ reason }) => reason.replace(/^You: .*/, 'You'))
            assert.deepEqual(reasons, [
              'You',
              'Write a.txt',
              'Bash: echo changed > b.txt',
              'Bash: rm c.txt',
            ])
            const [prompt, write] = all
            assert(prompt !== undefined && write !== undefined)
            await rewind(sandbox, write)
            assert.deepEqual(filesOf(sandbox), { ...START_FILES, 'a.txt': 'written\n' })
            await rewind(sandbox, prompt)
            assert.deepEqual(filesOf(sandbox), START_FILES)
          }),
  },
  {
    claim: 'with the daemon killed in the middle of a turn nothing is lost',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { sandbox } = scene
        await connect(scene)
        await savestate(sandbox, ['daemon', 'start'])
        await turnWithKill(scene)
        const all = await checkpoints(sandbox)
        const reasons = all.map(({ reason }) => reason)
        assert(reasons.at(-1)?.endsWith('rm c.txt'), reasons.join('\n'))
        await takenBack(sandbox)
      }),
  },
  {
    claim: 'with the daemon killed behind hooks over HTTP the turn is still saved as a whole',
    prove: (bed) =>
      !bed.agent.habits.hasHttpHooks
        ? NOT_HERE
        : withScene(bed, async (scene) => {
            const { sandbox } = scene
            await connect(scene, ['--http'])
            await turnWithKill(scene)
            await takenBack(sandbox)
          }),
  },
]

/** The daemon is killed while a command runs; the agent continues and ends successfully. */
async function turnWithKill({ here, sandbox }: Scene): Promise<void> {
  const [waiting, killed] = [join(sandbox.root, 'waiting'), join(sandbox.root, 'killed')]
  const wait = `touch ${waiting}; until [ -e ${killed} ]; do sleep 0.1; done`
  const steps = [
    { write: 'a.txt', content: 'written\n' },
    { shell: `${wait}; echo changed > b.txt` },
    { shell: 'rm c.txt' },
    { say: 'All done.' },
  ]
  const running = start(sandbox, here.ask(scripted('turn one', steps)))
  await until('The command runs', () => existsSync(waiting))
  const pid = daemonOf(sandbox)
  process.kill(pid, 'SIGKILL')
  await until('The daemon has ended', () => !isAlive(pid))
  writeFileSync(killed, '')
  const outcome = await running.outcome
  endGroup(running.process)
  assert.equal(outcome.code, 0, outcome.stderr)
  assert.deepEqual(filesOf(sandbox), DONE)
}

function daemonOf(sandbox: Sandbox): number {
  const text = readFileSync(join(sandbox.store, 'daemon', 'address.json'), 'utf8')
  const { pid } = JSON.parse(text) as { readonly pid: number }
  return pid
}

/** To the oldest checkpoint and back: the newest one has the folder as the turn left it. */
async function takenBack(sandbox: Sandbox): Promise<void> {
  const all = await checkpoints(sandbox)
  const [prompt, newest] = [all[0], all.at(-1)]
  assert(prompt !== undefined && newest !== undefined)
  await savestate(sandbox, ['verify'])
  await rewind(sandbox, prompt)
  assert.deepEqual(filesOf(sandbox), START_FILES)
  await rewind(sandbox, newest)
  assert.deepEqual(filesOf(sandbox), DONE)
}
