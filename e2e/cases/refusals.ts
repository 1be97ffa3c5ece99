// An agent without permission checks, and a model that asks it to discard the user's work.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Case, NOT_HERE, START_FILES, turn, withScene } from '../case.js'
import { scripted } from '../model-server/script.js'
import { filesOf } from '../install-folder.js'
import { checkpoints, connect } from '../savestate.js'

export const CARE_CASES: readonly Case[] = [
  {
    claim: 'its shell cannot go back, neither by a command nor by a script',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { sandbox } = scene
        await connect(scene)
        // The shell of an agent may have its own PATH.
        const program = join(sandbox.root, 'bin', 'savestate')
        writeFileSync(join(sandbox.project, 'fix.sh'), `${program} rewind 1 --yes 2> said.txt\n`)
        const steps = [
          { shell: 'echo mine > b.txt' },
          { shell: 'savestate rewind 2 --yes' },
          { shell: 'sh fix.sh || true' },
          { say: 'Done.' },
        ]
        await turn(scene, scripted('turn one', steps))
        const { 'b.txt': kept, 'said.txt': said, 'c.txt': other } = filesOf(sandbox)
        assert.equal(kept, 'mine\n')
        assert.equal(other, START_FILES['c.txt'])
        assert.match(said ?? '', /Only a user may run this command/)
        // The refusal tells the model to ask the user.
        const received = JSON.stringify(sandbox.server.received.at(-1))
        assert.match(received, /Ask the user to run it in their own terminal/)
        const reasons = (await checkpoints(sandbox)).map(({ reason }) => reason)
        assert.equal(reasons.length, 3, reasons.join('\n'))
      }),
  },
  {
    claim: 'its tools are kept from the store',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { sandbox } = scene
        await connect(scene)
        const steps = [
          { write: join(sandbox.store, 'format'), content: 'gone\n' },
          { shell: `rm -rf ${sandbox.store}` },
          { say: 'Done.' },
        ]
        await turn(scene, scripted('turn one', steps))
        assert.match((await checkpoints(sandbox))[0]?.reason ?? '', /^You: turn one/)
      }),
  },
  {
    claim: 'its own rules keep its tools from the store, also while our hook does nothing',
    // Codex has no rules that can be set without changing its sandbox.
    prove: (bed) =>
      !bed.agent.habits.hasDenyRules
        ? NOT_HERE
        : withScene(bed, async (scene) => {
            const { sandbox } = scene
            await connect(scene)
            const format = join(sandbox.store, 'format')
            const was = readFileSync(format, 'utf8')
            const program = join(sandbox.root, 'bin', 'savestate')
            rmSync(program)
            writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o755 })
            const steps = [
              { write: format, content: 'gone\n' },
              { write: join(sandbox.root, 'beside'), content: 'written\n' },
              { say: 'Done.' },
            ]
            await turn(scene, scripted('turn one', steps))
            assert.equal(readFileSync(format, 'utf8'), was)
            assert(existsSync(join(sandbox.root, 'beside')))
          }),
  },
]
