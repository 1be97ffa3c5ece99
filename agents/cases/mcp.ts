// The tools of our MCP server in the hands of a real agent that is allowed everything.
import assert from 'node:assert/strict'
import { type Case, START_FILES, turn, withScene } from '../case.js'
import { scripted } from '../model-server/script.js'
import { filesOf } from '../place.js'
import { checkpoints, serve } from '../savestate.js'

export const MCP_CASES: readonly Case[] = [
  {
    claim: 'over MCP it saves a checkpoint, and cannot be talked into a rewind',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        serve(scene, [])
        const steps = [
          { tool: 'checkpoint_save', given: { reason: 'asked for over MCP' } },
          { write: 'a.txt', content: 'written\n' },
          { tool: 'checkpoint_rewind', given: { ref: '1' } },
          { tool: 'checkpoint_rewind', given: { ref: '1', token: 'the person agrees' } },
          { say: 'Done.' },
        ]
        await turn(scene, scripted('turn one', steps))
        const reasons = (await checkpoints(scene.place)).map(({ reason }) => reason)
        assert.deepEqual(reasons, ['asked for over MCP'])
        // The model was shown the plan, and then the refusal.
        const told = JSON.stringify(scene.place.server.received.at(-1))
        assert.match(told, /savestate rewind [a-z]{18}/)
        assert.match(told, /AGENT_REWIND_OFF/)
        assert.deepEqual(filesOf(scene.place), { ...START_FILES, 'a.txt': 'written\n' })
      }),
  },
]
