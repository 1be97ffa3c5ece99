// The tools of our MCP server, used by a real agent without permission checks.
import assert from 'node:assert/strict'
import { type Case, START_FILES, turn, withScene } from '../case.js'
import { scripted } from '../model-server/script.js'
import { filesOf } from '../install-folder.js'
import { connect, savestate } from '../savestate.js'

export const MCP_CASES: readonly Case[] = [
  {
    claim: 'over MCP it saves a checkpoint, and cannot rewind',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        await connect(scene, ['--mcp'])
        const steps = [
          { tool: 'checkpoint_save', given: { reason: 'asked for over MCP', name: 'asked-for' } },
          { write: 'a.txt', content: 'written\n' },
          { tool: 'checkpoint_rewind', given: { ref: 'asked-for' } },
          { tool: 'checkpoint_rewind', given: { ref: 'asked-for', token: 'the person agrees' } },
          { say: 'Done.' },
        ]
        await turn(scene, scripted('turn one', steps))
        // A hook has saved the same files just before, so that checkpoint got the name.
        const saved = await savestate(scene.sandbox, ['show', 'asked-for'])
        assert.equal(saved['name'], 'asked-for')
        // The model got the plan, and then the refusal.
        const received = JSON.stringify(scene.sandbox.server.received.at(-1))
        // Claude Code passes only the structured part of a result to the model, so the explanation must be there.
        assert.match(received, /no checkpoint was added\. That checkpoint now has the name/)
        assert.match(received, /Only the user may rewind\./)
        assert.match(
          received,
          /Show this to the user, who can run in the project folder: savestate rewind/,
        )
        assert.match(received, /Only the user can let agents rewind/)
        assert.match(received, /savestate rewind [a-z]{18}/)
        assert.match(received, /AGENT_REWIND_OFF/)
        assert.deepEqual(filesOf(scene.sandbox), { ...START_FILES, 'a.txt': 'written\n' })
      }),
  },
]
