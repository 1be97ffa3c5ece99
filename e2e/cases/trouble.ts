// Failures of Savestate: the agent continues, and nothing that was saved is lost.
import assert from 'node:assert/strict'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Case, finish, type Scene, START_FILES, turn, withScene } from '../case.js'
import { endGroup, run, start, until } from '../drive.js'
import { asList, asRecord, asText } from '../model-server/json.js'
import { type ScriptStep, scripted } from '../model-server/script.js'
import { filesOf } from '../install-folder.js'
import { checkpoints, connect, rewind, savestate } from '../savestate.js'

const SLOW = [{ shell: 'echo begun > begun.txt; sleep 60' }, { say: 'Done.' }]
const STEPS: readonly ScriptStep[] = [
  { write: 'a.txt', content: 'written\n' },
  { shell: 'echo changed > b.txt' },
  { say: 'All done.' },
]

export const TROUBLE_CASES: readonly Case[] = [
  {
    claim: 'with an unusable store the agent continues',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { sandbox } = scene
        await connect(scene)
        rmSync(sandbox.store, { recursive: true })
        writeFileSync(sandbox.store, 'not a folder')
        await turn(scene, scripted('turn one', STEPS))
        const expected = { ...START_FILES, 'a.txt': 'written\n', 'b.txt': 'changed\n' }
        assert.deepEqual(filesOf(sandbox), expected)
      }),
  },
  {
    claim: 'changes of a killed turn are saved when the session resumes',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { here, sandbox } = scene
        await connect(scene)
        const running = start(sandbox, here.ask(scripted('turn one', SLOW)))
        await until('The command runs', () => existsSync(join(sandbox.project, 'begun.txt')))
        running.signal('SIGKILL')
        await running.outcome
        endGroup(running.process)
        const killed = (await checkpoints(sandbox)).at(-1)
        assert.match(killed?.reason ?? '', /^You: turn one/)

        const session = await agentSession(scene)
        const next = scripted('turn two', [{ write: 'n.txt', content: 'next\n' }, { say: 'Next.' }])
        await finish(sandbox, here.resume(session, next))
        const all = await checkpoints(sandbox)
        const asked = all.find(({ reason }) => reason.startsWith('You: turn two'))
        assert(asked !== undefined)
        await rewind(sandbox, asked)
        assert.deepEqual(filesOf(sandbox), { ...START_FILES, 'begun.txt': 'begun\n' })
      }),
  },
  {
    claim: 'two agents at once in one project: both are saved, and both can be taken back',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { agent, here, sandbox } = scene
        const partner = {
          ...scene,
          ...bed.partner,
          here: bed.partner.agent.at(sandbox, bed.partner.folders),
        }
        await connect(scene)
        await connect(partner)
        const both = [
          run(sandbox, here.ask(scripted('mine', busy(agent.name)))),
          run(sandbox, partner.here.ask(scripted('yours', busy('partner')))),
        ]
        for (const outcome of await Promise.all(both)) assert.equal(outcome.code, 0, outcome.stderr)
        const done = filesOf(sandbox)
        assert.equal(Object.keys(done).length, 2 + 2 * ROUNDS)

        const all = await checkpoints(sandbox)
        assert.equal(new Set(all.map(({ session }) => session)).size, 2)
        await savestate(sandbox, ['verify'])
        const [first] = all
        assert(first !== undefined)
        await rewind(sandbox, first)
        await savestate(sandbox, ['undo', '--yes'])
        assert.deepEqual(filesOf(sandbox), done)
        const newest = all.at(-1)
        assert(newest !== undefined)
        await rewind(sandbox, newest)
        assert.deepEqual(filesOf(sandbox), done)
      }),
  },
]

const ROUNDS = 6

function busy(name: string): ScriptStep[] {
  const rounds = Array.from({ length: ROUNDS }, (_, n) => ({
    shell: `echo ${n} > ${name}-${n}.txt`,
  }))
  return [...rounds, { say: 'Done.' }]
}

/** The agent's id of its session, from the metadata of its checkpoints. */
async function agentSession({ sandbox }: Scene): Promise<string> {
  const sessions = asList((await savestate(sandbox, ['sessions']))['sessions'])
  const id = asText(asRecord(sessions[0])['id'])
  assert.notEqual(id, '')
  return id
}
