// Hooks when PATH has changed since the install, and when Savestate was removed.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Case, finish, START_FILES, withScene } from '../case.js'
import { run } from '../drive.js'
import { type ScriptStep, scripted } from '../model-server/script.js'
import { filesOf } from '../install-folder.js'
import { checkpoints, connect } from '../savestate.js'

const STEPS: readonly ScriptStep[] = [
  { write: 'a.txt', content: 'written\n' },
  { shell: 'echo changed > b.txt' },
  { say: 'All done.' },
]
const DONE = { ...START_FILES, 'a.txt': 'written\n', 'b.txt': 'changed\n' }

export const LAUNCHER_CASES: readonly Case[] = [
  {
    claim: 'with savestate off PATH the hooks save, and no TCP port is open',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { here, sandbox } = scene
        await connect(scene)
        // As after `nvm use`: the program still exists, but is not on PATH.
        const ask = here.ask(scripted('turn one', STEPS))
        const { PATH = '' } = { ...sandbox.environment, ...ask.environment }
        const others = PATH.split(':').filter((folder) => folder !== join(sandbox.root, 'bin'))
        const environment = { ...ask.environment, PATH: others.join(':') }
        await finish(sandbox, { ...ask, environment })
        assert.deepEqual(filesOf(sandbox), DONE)
        const address = readFileSync(join(sandbox.store, 'daemon', 'address.json'), 'utf8')
        assert.match(address, /"port":null/)
        const reasons = (await checkpoints(sandbox)).map(({ reason }) => reason)
        assert.match(reasons[0] ?? '', /^You: turn one/)
        assert.equal(reasons.length, 3, reasons.join('\n'))
      }),
  },
  {
    claim: 'with Savestate removed the agent works on, and reports that once',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { here, sandbox } = scene
        await connect(scene)
        // As after `npm rm -g savestate`. The next command of a test puts it back.
        rmSync(join(sandbox.root, 'bin', 'savestate'))
        const launcher = join(sandbox.store, 'bin', 'savestate-hook')
        assert.match(readFileSync(launcher, 'utf8'), /^program='.*\/bin\/savestate'$/m)
        const outcome = await run(sandbox, here.ask(scripted('turn one', STEPS)))
        assert.equal(outcome.code, 0, outcome.stderr)
        assert.deepEqual(filesOf(sandbox), DONE)
        assert.doesNotMatch(outcome.stdout + outcome.stderr, /not found|hook error|hook failed/i)
        assert(existsSync(join(sandbox.store, 'bin', 'not-found-reported')))
        await finish(sandbox, here.ask(scripted('turn two', [{ say: 'Done.' }])))
      }),
  },
]
