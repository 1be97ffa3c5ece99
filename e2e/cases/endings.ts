// Turns that end with a failure, after which hooks may be missing.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Case, finish, type Scene, withScene } from '../case.js'
import { endGroup, isAlive, run, start, until } from '../drive.js'
import { asText } from '../model-server/json.js'
import { scripted } from '../model-server/script.js'
import { filesOf } from '../install-folder.js'
import { field, recorded, record } from '../record.js'

const SLOW = [{ shell: 'echo $$ > pid.txt; sleep 60; echo late > late.txt' }, { say: 'Done.' }]
const NEXT = scripted('turn two', [{ write: 'next.txt', content: 'next\n' }, { say: 'Next.' }])

export const ENDING_CASES: readonly Case[] = [
  {
    claim: 'killed in the middle of a command it tells no end of the turn, and can be resumed',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { agent, here, sandbox } = scene
        record(scene)
        const running = start(sandbox, here.ask(scripted('turn one', SLOW)))
        const pidFile = join(sandbox.project, 'pid.txt')
        await until(
          'The command runs',
          () => existsSync(pidFile) && readFileSync(pidFile).length > 1,
        )
        running.signal('SIGKILL')
        await running.outcome
        await sleep(300)
        const pid = Number(readFileSync(pidFile, 'utf8'))
        assert.equal(isAlive(pid), agent.habits.commandOutlivesKill)
        if (isAlive(pid)) process.kill(pid, 'SIGKILL')
        endGroup(running.process)
        assert.deepEqual(endsOf(scene), [])

        const first = recorded(sandbox)[0]
        const session = asText(first && field(first, sessionPath(scene)))
        await finish(sandbox, here.resume(session, NEXT))
        assert.equal(filesOf(sandbox)['next.txt'], 'next\n')
      }),
  },
  {
    claim: 'an error of the model ends the turn as the table of this agent says',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { agent, here, sandbox } = scene
        record(scene)
        const steps = [{ write: 'a.txt', content: 'written\n' }, { fail: 400 }]
        await run(sandbox, here.ask(scripted('turn one', steps)))
        assert.equal(filesOf(sandbox)['a.txt'], 'written\n')
        const hasEnd = endsOf(scene).includes(agent.hooks.events.turnEnd)
        assert.equal(hasEnd, agent.habits.endsTurnAfterError)
      }),
  },
]

function endsOf({ agent, sandbox }: Scene): string[] {
  const { turnEnd, end } = agent.hooks.events
  return recorded(sandbox)
    .map(({ event }) => event)
    .filter((event) => event === turnEnd || event === end)
}

function sessionPath({ agent }: Scene): string {
  return agent.hooks.paths.session
}
