// The main guarantee: every change of an agent, by any of its tools, is in the list and can be undone.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Case, finish, type Scene, START_FILES, turn, withScene } from '../case.js'
import { type ScriptStep, scripted } from '../model-server/script.js'
import { filesOf } from '../install-folder.js'
import { type Checkpoint, checkpoints, connect, rewind, savestate } from '../savestate.js'

/** Binary, without a newline at the end: a restore is exact to the byte. */
const BYTES = String.raw`printf '\377\000\r\n\001' > b.txt`
const STEPS: readonly ScriptStep[] = [
  { write: 'a.txt', content: 'written\n' },
  { shell: BYTES },
  { delete: 'c.txt' },
  { say: 'All done.' },
]

export const UNDO_CASES: readonly Case[] = [
  {
    claim:
      'the list reads like the conversation: the prompt, then each tool that changed something',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        await connect(scene)
        await turn(scene, scripted('turn one', STEPS))
        await story(scene)
        const sessions = new Set((await checkpoints(scene.sandbox)).map(({ session }) => session))
        assert.equal(sessions.size, 1)
      }),
  },
  {
    claim: 'files go back to before the command, to the prompt, and forward again, by the byte',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { sandbox } = scene
        await connect(scene)
        await turn(scene, scripted('turn one', STEPS))
        const done = filesOf(sandbox)
        assert.deepEqual(done, { 'a.txt': 'written\n', 'b.txt': '\u00ff\u0000\r\n\u0001' })
        const { prompt, write, remove } = await story(scene)
        await rewind(sandbox, write)
        assert.deepEqual(filesOf(sandbox), { ...START_FILES, 'a.txt': 'written\n' })
        await rewind(sandbox, prompt)
        assert.deepEqual(filesOf(sandbox), START_FILES)
        await rewind(sandbox, remove)
        assert.deepEqual(filesOf(sandbox), done)
        await savestate(sandbox, ['undo', '--yes'])
        assert.deepEqual(filesOf(sandbox), START_FILES)
        await savestate(sandbox, ['rewind', remove.id, '--before', '--yes'])
        assert.deepEqual(filesOf(sandbox), { ...START_FILES, ...done })
      }),
  },
  {
    claim: 'changes of the user in between are recognized, and stay on request',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { agent, here, sandbox } = scene
        await connect(scene)
        await turn(scene, scripted('turn one', STEPS))
        const { prompt } = await story(scene)
        writeFileSync(join(sandbox.project, 'mine.txt'), 'mine\n')
        const second = scripted('turn two', [{ shell: 'echo 2 > a.txt' }, { say: 'Two.' }])
        await finish(sandbox, here.resume(prompt.session, second))
        const authors = (await checkpoints(sandbox)).map(({ author }) => author)
        const { name } = agent
        assert.deepEqual(authors, ['you', name, name, name, 'you', name])
        await savestate(sandbox, ['rewind', prompt.id, '--keep-mine', '--yes'])
        assert.deepEqual(filesOf(sandbox), { ...START_FILES, 'mine.txt': 'mine\n' })
      }),
  },
  {
    claim: 'after a rewind the next turn learns once which files were restored',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { here, sandbox } = scene
        await connect(scene)
        await turn(scene, scripted('turn one', STEPS))
        const { prompt } = await story(scene)
        await rewind(sandbox, prompt)
        const notice = 'Read them again before you rely on them: a.txt, b.txt, c.txt.'
        const times = (title: string) => {
          const request = sandbox.server.received.findLast(
            ({ body, tools }) => tools.length > 0 && JSON.stringify(body).includes(title),
          )
          return JSON.stringify(request?.body ?? '').split(notice).length - 1
        }
        await finish(sandbox, here.resume(prompt.session, scripted('turn two', [{ say: 'Two.' }])))
        assert.equal(times('turn two'), 1)
        await finish(
          sandbox,
          here.resume(prompt.session, scripted('turn three', [{ say: 'Three.' }])),
        )
        // Some agents keep the notice in their conversation.
        assert(times('turn three') <= 1)
      }),
  },
  {
    claim: 'what a subagent changed can be taken back',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { here, sandbox } = scene
        await connect(scene)
        const helper = {
          agent: [{ write: 's.txt', content: 'sub\n' }, { shell: 'echo x >> b.txt' }],
        }
        const steps = [{ write: 'a.txt', content: 'written\n' }, helper, { say: 'Done.' }]
        await finish(sandbox, here.askForSubagents(scripted('turn one', steps)))
        const done = { ...START_FILES, 'a.txt': 'written\n', 's.txt': 'sub\n' }
        assert.deepEqual(filesOf(sandbox), { ...done, 'b.txt': 'original\nx\n' })
        const all = await checkpoints(sandbox)
        // Parent and subagent may work at the same time and share a checkpoint, so find it by the row before it.
        await rewind(sandbox, before(all, 'echo x >> b.txt'))
        assert.deepEqual(filesOf(sandbox), done)
        await rewind(sandbox, named(all, ' a.txt'))
        assert.deepEqual(filesOf(sandbox), { ...START_FILES, 'a.txt': 'written\n' })
      }),
  },
]

interface Story {
  readonly prompt: Checkpoint
  readonly write: Checkpoint
  readonly remove: Checkpoint
}

/** The checkpoints of the script above, and no others. */
async function story({ sandbox }: Scene): Promise<Story> {
  const all = await checkpoints(sandbox)
  const [prompt, write, shell, remove] = all
  const reasons = all.map(({ reason }) => reason)
  assert.equal(all.length, 4, reasons.join('\n'))
  assert(prompt !== undefined && write !== undefined)
  assert(shell !== undefined && remove !== undefined)
  assert.match(prompt.reason, /^You: turn one/)
  assert.match(write.reason, / a\.txt$/)
  assert(shell.reason.endsWith(BYTES), shell.reason)
  assert.match(remove.reason, / c\.txt$/)
  return { prompt, write, remove }
}

/** The first checkpoint after the prompt whose reason contains these words. */
function named(all: readonly Checkpoint[], words: string): Checkpoint {
  const found = all.find(({ reason }) => reason.includes(words) && !reason.startsWith('You: '))
  assert(found !== undefined, all.map(({ reason }) => reason).join('\n'))
  return found
}

function before(all: readonly Checkpoint[], words: string): Checkpoint {
  const found = all[all.indexOf(named(all, words)) - 1]
  assert(found !== undefined, `Nothing is before ${words}`)
  return found
}
