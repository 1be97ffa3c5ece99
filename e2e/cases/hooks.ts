// The payloads of hooks: which events, in which order, before or after the change, with which fields.
import assert from 'node:assert/strict'
import { type Case, finish, type Scene, START_FILES, turn, withScene } from '../case.js'
import { type ScriptStep, scripted } from '../model-server/script.js'
import { hasOnlyLoopback } from '../namespace.js'
import { filesOf } from '../install-folder.js'
import { field, type RecordedEvent, recorded, record } from '../record.js'

const STEPS: readonly ScriptStep[] = [
  { write: 'a.txt', content: 'written\n' },
  { shell: 'echo changed > b.txt' },
  { delete: 'c.txt' },
  { say: 'All done.' },
]

export const HOOK_CASES: readonly Case[] = [
  {
    claim: 'it writes, runs a command and deletes, with its hooks before and after each',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        assert(hasOnlyLoopback(), 'There is a network')
        record(scene)
        await turn(scene, scripted('turn one', STEPS))
        assert.deepEqual(filesOf(scene.sandbox), { 'a.txt': 'written\n', 'b.txt': 'changed\n' })
        assert.deepEqual(recorded(scene.sandbox).map(shortly(scene)), expectedEvents(scene))
        checkFields(scene, recorded(scene.sandbox))
      }),
  },
  {
    claim: 'what a subagent changes passes the hooks too, within its parent',
    prove: (bed) =>
      withScene(bed, async (scene) => {
        record(scene)
        const steps = [
          { agent: [{ write: 's.txt', content: 'by a subagent\n' }] },
          { say: 'Done.' },
        ]
        await finish(scene.sandbox, scene.here.askForSubagents(scripted('turn one', steps)))
        const expected = { ...START_FILES, 's.txt': 'by a subagent\n' }
        assert.deepEqual(filesOf(scene.sandbox), expected)
        checkSubagent(scene, recorded(scene.sandbox))
      }),
  },
]

/** An event as event, tool and files. */
function shortly({ agent: { hooks } }: Scene) {
  return (event: RecordedEvent) => {
    const tool = field(event, hooks.paths.tool)
    return [event.event, ...(typeof tool === 'string' ? [tool] : []), event.files.join(' ')]
  }
}

function expectedEvents({ agent: { hooks } }: Scene): readonly (readonly string[])[] {
  const { events, tools } = hooks
  return [
    [events.start, 'b.txt c.txt'],
    [events.prompt, 'b.txt c.txt'],
    [events.before, tools.write, 'b.txt c.txt'],
    [events.after, tools.write, 'a.txt b.txt c.txt'],
    [events.before, tools.shell, 'a.txt b.txt c.txt'],
    [events.after, tools.shell, 'a.txt b.txt c.txt'],
    [events.before, tools.remove, 'a.txt b.txt c.txt'],
    [events.after, tools.remove, 'a.txt b.txt'],
    [events.turnEnd, 'a.txt b.txt'],
    [events.end, 'a.txt b.txt'],
  ]
}

function checkFields({ agent: { hooks } }: Scene, events: readonly RecordedEvent[]): void {
  const missing = events.flatMap((event) =>
    (hooks.fields[event.event] ?? [])
      .filter((path) => field(event, path) === undefined)
      .map((path) => `${event.event}: ${path}`),
  )
  assert.deepEqual(missing, [])
  const { session, call } = hooks.paths
  // The event at the end of the program may have no session.
  const sessions = new Set(events.map((event) => field(event, session)))
  sessions.delete(undefined)
  assert.equal(sessions.size, 1, 'The events of a run have one session')
  if (call === undefined) return
  const idsOf = (name: string) =>
    events.filter(({ event }) => event === name).map((event) => field(event, call))
  assert.deepEqual(idsOf(hooks.events.before), idsOf(hooks.events.after))
}

function checkSubagent({ agent: { hooks } }: Scene, events: readonly RecordedEvent[]): void {
  const { before, after } = hooks.events
  const at = (name: string, tool: string) =>
    events.findIndex((event) => event.event === name && field(event, hooks.paths.tool) === tool)
  const [spawned, began, ended] = [
    at(before, hooks.tools.spawn),
    at(before, hooks.tools.write),
    at(after, hooks.tools.write),
  ]
  assert(spawned !== -1 && spawned < began && began < ended, 'Spawn, before and after, in order')
  const [child, changed] = [events[began], events[ended]]
  assert(child !== undefined && changed !== undefined)
  assert(!child.files.includes('s.txt') && changed.files.includes('s.txt'))
  const { subagent } = hooks.paths
  if (subagent !== undefined) assert.notEqual(field(child, subagent), undefined)
}
