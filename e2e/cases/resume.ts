// Rewinds of the conversation: the messages that the model gets when a session continues before an undone turn.
import assert from 'node:assert/strict'
import { type Case, finish, type Scene, turn, withScene } from '../case.js'
import { type Entry, spoken } from '../model-server/conversation.js'
import { asList, asRecord, asText } from '../model-server/json.js'
import { scripted } from '../model-server/script.js'
import { filesOf } from '../install-folder.js'
import { field, type RecordedEvent, recorded, record } from '../record.js'
import { checkpoints, connect, savestate } from '../savestate.js'

const OTHER = scripted('another turn two', [{ say: 'Other.' }])

export const RESUME_CASES: readonly Case[] = [
  {
    claim: 'resumed before turn two, the model gets turn one and the new prompt, nothing else',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        record(scene)
        const steps = [{ write: 'one.txt', content: '1\n' }, { say: 'One.' }]
        await turn(scene, scripted('turn one', steps))
        const first = promptsOf(scene).at(-1)
        const session = asText(first && field(first, scene.agent.hooks.paths.session))
        const second = scripted('turn two', [{ shell: 'echo 2 > two.txt' }, { say: 'Two.' }])
        await finish(scene.sandbox, scene.here.resume(session, second))
        const whole = conversation(scene, second)
        assert.deepEqual(kindsOf(whole), ['prompt', 'call', 'result', 'say', 'prompt'])

        const taken = promptsOf(scene).at(-1)
        assert(taken !== undefined)
        await finish(scene.sandbox, await scene.here.resumeBefore(taken, OTHER))
        const shortened = [...whole.slice(0, -1), { kind: 'prompt', text: OTHER }]
        assert.deepEqual(conversation(scene, OTHER), shortened)

        // The session itself still contains the undone turn.
        const third = scripted('turn three', [{ say: 'Three.' }])
        await finish(scene.sandbox, scene.here.resume(session, third))
        const kinds = kindsOf(conversation(scene, third))
        assert.deepEqual(kinds.slice(5), ['call', 'result', 'say', 'prompt'])
      }),
  },
  {
    claim:
      'rewound with its conversation, the files and what the model gets are as before turn two',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        const { here, sandbox } = scene
        await connect(scene)
        const steps = [{ write: 'one.txt', content: '1\n' }, { say: 'One.' }]
        await turn(scene, scripted('turn one', steps))
        const session = (await checkpoints(sandbox))[0]?.session ?? ''
        const before = filesOf(sandbox)
        const second = scripted('turn two', [{ shell: 'echo 2 > two.txt' }, { say: 'Two.' }])
        await finish(sandbox, here.resume(session, second))
        const whole = conversation(scene, second)

        const taken = (await checkpoints(sandbox)).find(({ reason }) => reason.includes('turn two'))
        const after = filesOf(sandbox)
        const copied = await savestate(sandbox, ['rewind', taken?.id ?? '', '--conversation'])
        assert.equal(copied['restored'], 'conversation')
        assert.deepEqual(filesOf(sandbox), after)
        const rewound = await savestate(sandbox, ['rewind', taken?.id ?? '', '--both', '--yes'])
        assert.deepEqual(filesOf(sandbox), before)
        const undone = await savestate(sandbox, ['undo', '--dry-run'])
        assert.equal(asRecord(undone['conversation'])['session'], session)
        assert.notEqual(asRecord(undone['conversation'])['command'], null)
        const [, ...args] = asList(asRecord(rewound['conversation'])['command']).map(asText)
        assert(args.length > 0, JSON.stringify(rewound))
        await finish(sandbox, here.goOn(args, OTHER))
        const shortened = [...whole.slice(0, -1), { kind: 'prompt', text: OTHER }]
        assert.deepEqual(conversation(scene, OTHER), shortened)

        // The continued session has its own checkpoints, and the original one still contains the undone turn.
        const again = (await checkpoints(sandbox)).at(-1)
        assert(again?.reason.includes('another turn two') && again.session !== session)
        const third = scripted('turn three', [{ say: 'Three.' }])
        await finish(sandbox, here.resume(session, third))
        const kinds = kindsOf(conversation(scene, third))
        assert.deepEqual(kinds.slice(5), ['call', 'result', 'say', 'prompt'])
      }),
  },
]

function promptsOf({ agent, sandbox }: Scene): RecordedEvent[] {
  return recorded(sandbox).filter(({ event }) => event === agent.hooks.events.prompt)
}

/** The first request with this prompt and with tools. */
function conversation({ agent, sandbox }: Scene, prompt: string): Entry[] {
  const request = sandbox.server.received.find(({ entries, tools }) => {
    const last = entries.findLast(({ kind }) => kind === 'prompt')
    return tools.length > 0 && last?.kind === 'prompt' && last.text.includes(prompt)
  })
  assert(request !== undefined, 'The model was never asked this')
  const entries = spoken(request.entries)
  return agent.habits.repeatsResults ? withoutRepeats(entries) : entries
}

function withoutRepeats(entries: readonly Entry[]): Entry[] {
  return entries.filter((entry, index) => {
    const last = entries[index - 1]
    const repeats = entry.kind === 'result' && last?.kind === 'result' && last.text === entry.text
    return !repeats
  })
}

function kindsOf(entries: readonly Entry[]): string[] {
  return entries.map(({ kind }) => kind)
}
