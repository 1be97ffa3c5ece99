// Commands of Savestate that the user types as a prompt: the hook carries them out, and the model gets nothing.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Case, finish, type Scene, START_FILES, turn, withScene } from '../case.js'
import { run } from '../drive.js'
import { scripted } from '../model-server/script.js'
import { filesOf } from '../install-folder.js'
import { checkpoints, connect } from '../savestate.js'

const STEPS = [
  { write: 'a.txt', content: 'written\n' },
  { shell: 'echo changed > b.txt' },
  { say: 'All done.' },
]
const DONE = { ...START_FILES, 'a.txt': 'written\n', 'b.txt': 'changed\n' }
const NOTICE = 'Read them again before you rely on them: a.txt, b.txt.'

export const PROMPT_CASES: readonly Case[] = [
  {
    claim: 'a command typed as a prompt is carried out without the model, which learns of it once',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { here, sandbox } = scene
        await connect(scene)
        await turn(scene, scripted('turn one', STEPS))
        const session = (await checkpoints(sandbox))[0]?.session ?? ''
        const type = (prompt: string) => typed(scene, session, prompt)
        await type('savestate back 3')
        assert.deepEqual(filesOf(sandbox), START_FILES)
        await type('savestate undo')
        assert.deepEqual(filesOf(sandbox), DONE)
        await type('savestate redo')
        assert.deepEqual(filesOf(sandbox), START_FILES)
        await type('savestate status')
        await type('savestate list')
        const reasons = (await checkpoints(sandbox)).map(({ reason }) => reason)
        assert(!reasons.some((reason) => reason.includes('You: savestate')), reasons.join('\n'))
        await finish(sandbox, here.resume(session, scripted('turn two', [{ say: 'Two.' }])))
        const request = sandbox.server.received.findLast(
          ({ body, tools }) => tools.length > 0 && JSON.stringify(body).includes('turn two'),
        )
        const body = JSON.stringify(request?.body ?? '')
        assert.equal(body.split(NOTICE).length, 2)
        assert(!body.includes('savestate back'), 'The model gets the command later')
      }),
  },
  {
    claim: 'a command typed as a prompt asks before it overwrites what the user has changed',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { agent, sandbox } = scene
        await connect(scene)
        await turn(scene, scripted('turn one', STEPS))
        const session = (await checkpoints(sandbox))[0]?.session ?? ''
        writeFileSync(join(sandbox.project, 'c.txt'), 'mine\n')
        const asked = await typed(scene, session, 'savestate rewind 3')
        if (agent.habits.showsBlockedPrompt) assert.match(asked, /savestate rewind 3 --yes/)
        assert.deepEqual(filesOf(sandbox), { ...DONE, 'c.txt': 'mine\n' })
        await typed(scene, session, 'savestate rewind 3 --yes')
        assert.deepEqual(filesOf(sandbox), START_FILES)
      }),
  },
  {
    claim: 'a command typed as a prompt cannot be made up by a script that the agent runs',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { agent, sandbox } = scene
        await connect(scene)
        const own = { session_id: 's', cwd: sandbox.project, prompt: 'savestate rewind 1 --yes' }
        const parts = [{ type: 'text', text: own.prompt }]
        const payload = { ...own, sessionID: 's', directory: sandbox.project, output: { parts } }
        writeFileSync(join(sandbox.root, 'made-up.json'), JSON.stringify(payload))
        const program = join(sandbox.root, 'bin', 'savestate')
        const hook = `${program} hook ${agent.name} ${agent.hooks.events.prompt}`
        const script = `${hook} < ${sandbox.root}/made-up.json > answer.txt\n`
        writeFileSync(join(sandbox.project, 'fix.sh'), script)
        const steps = [{ shell: 'echo mine > b.txt' }, { shell: 'sh fix.sh' }, { say: 'Done.' }]
        await turn(scene, scripted('turn one', steps))
        const { 'b.txt': kept, 'answer.txt': answer } = filesOf(sandbox)
        assert.deepEqual([kept, answer], ['mine\n', ''])
      }),
  },
]

/** Continues the session with this prompt, which must not reach the model. Returns what the user sees. */
async function typed(scene: Scene, session: string, prompt: string): Promise<string> {
  const { agent, here, sandbox } = scene
  const before = sandbox.server.received.length
  const { code, stdout, stderr } = await run(sandbox, here.resume(session, prompt))
  const sent = sandbox.server.received.slice(before).map(({ body }) => JSON.stringify(body))
  assert.deepEqual(sent, [], `The model got a request after ${prompt}`)
  // opencode can only fail to accept a prompt, and has the text in its session.
  assert.equal(code, agent.name === 'opencode' ? 1 : 0, `${stdout}${stderr}`)
  if (agent.name !== 'opencode') return stdout
  const exported = { program: 'opencode', args: ['export', session], environment: {} }
  return (await run(sandbox, exported)).stdout
}
