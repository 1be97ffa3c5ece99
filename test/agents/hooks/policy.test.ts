// Sequences of events as agents send them, and the checkpoints and labels that follow.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AgentEvent, Tool } from '../../../src/agents/mappers/event.js'
import {
  afterSave,
  MAX_CALLS,
  NO_TURN_STATE,
  parseTurnState,
  type TurnState,
} from '../../../src/agents/hooks/turn-state.js'
import { decide, type PolicyOptions } from '../../../src/agents/hooks/policy.js'

const ONE_BY_ONE: PolicyOptions = { runsToolsTogether: false, hidesText: false }
const TOGETHER: PolicyOptions = { runsToolsTogether: true, hidesText: false }

type Special = Partial<Pick<AgentEvent, 'agentId' | 'turnId'>>
const facts = {
  agent: 'claude',
  eventName: 'Event',
  sessionId: 's',
  turnId: undefined,
  agentId: undefined,
  cwd: '/w',
  transcriptPath: undefined,
  rest: {},
} as const

const prompt = (text: string): AgentEvent => ({ ...facts, type: 'turn-start', prompt: text })
const start = (source = 'startup'): AgentEvent => ({ ...facts, type: 'session-start', source })
const end: AgentEvent = { ...facts, type: 'turn-end' }
const over: AgentEvent = { ...facts, type: 'session-end' }
const shell = (command: string): Tool => ({
  name: 'Bash',
  input: { command },
  callId: `id-${command}`,
  effect: 'anything',
})
const write = (path: string): Tool => ({
  name: 'Write',
  input: { file_path: path },
  callId: `id-${path}`,
  effect: 'writes',
})
const read: Tool = { name: 'Read', input: {}, callId: 'r', effect: 'reads' }
const before = (tool: Tool, special: Special = {}): AgentEvent => ({
  ...facts,
  ...special,
  type: 'before-tool',
  tool,
})
const after = (tool: Tool, special: Special = {}): AgentEvent => ({
  ...facts,
  ...special,
  type: 'after-tool',
  tool,
})

/** The reasons of the saves at each event. */
function follow(events: readonly AgentEvent[], options = ONE_BY_ONE) {
  let state: TurnState = NO_TURN_STATE
  return events.map((event) => {
    const decision = decide(event, state, options)
    state = decision.saves.reduce(afterSave, decision.state)
    // The state goes through JSON between two processes.
    state = JSON.parse(JSON.stringify(state)) as TurnState
    return decision.saves.map(({ reason, always }) => `${reason}${always ? ' [always]' : ''}`)
  })
}

test('the checkpoints of a usual turn read like the conversation', () => {
  expect(
    follow([
      start(),
      prompt('Fix  the\nlogin'),
      before(read),
      after(read),
      before(write('/w/src/a.ts')),
      after(write('/w/src/a.ts')),
      before(shell('npm test')),
      after(shell('npm test')),
      end,
      over,
    ]),
  ).toEqual([
    [],
    ['You: Fix the login [always]'],
    [],
    [],
    ['Before Write src/a.ts'],
    ['Write src/a.ts'],
    ['Before Bash: npm test'],
    ['Bash: npm test'],
    ['End of the turn'],
    ['End of the session'],
  ])
})

test('a write is saved at its end, so that later changes are not attributed to it', () => {
  const events = [prompt('x'), before(write('a')), after(write('a')), end]
  expect(follow(events).slice(-2)).toEqual([['Write a'], ['End of the turn']])
  const moments = events.map((event) => decide(event, NO_TURN_STATE, ONE_BY_ONE).saves[0]?.moment)
  const who = { type: 'event', who: 'claude', session: 's' }
  expect(moments).toEqual([
    { ...who, over: 'session' },
    { ...who, over: 'agent', begins: 'id-a' },
    { ...who, ends: 'id-a' },
    { ...who, over: 'session' },
  ])
})

test('any next event saves a call whose end event is missing', () => {
  const lost = 'Bash: rm -rf x (no end seen)'
  const killed = [prompt('one'), before(shell('rm -rf x'))]
  expect(follow([...killed, before(read)]).at(-1)).toEqual([`${lost}`])
  expect(follow([...killed, before(write('a'))]).at(-1)).toEqual([`${lost}`])
  expect(follow([...killed, end]).at(-1)).toEqual([`${lost}`])
  expect(follow([...killed, over]).at(-1)).toEqual([`${lost}`])
  expect(follow([...killed, { ...facts, type: 'compaction' }]).at(-1)).toEqual([`${lost}`])
  expect(follow([...killed, start('resume')]).at(-1)).toEqual([`${lost}`])
  expect(follow([...killed, prompt('two')]).at(-1)).toEqual([`${lost}`, 'You: two [always]'])
})

test('a call without an end event is saved only once', () => {
  const killed = [prompt('one'), before(shell('rm -rf x')), start('resume'), prompt('two'), end]
  expect(follow(killed).slice(-2)).toEqual([['You: two [always]'], ['End of the turn']])
})

test('concurrent calls share their changes', () => {
  const [a, b] = [shell('a'), shell('b')]
  expect(follow([before(a), before(b), after(b), after(a), end], TOGETHER)).toEqual([
    ['Before Bash: a'],
    ['Bash: a (running)'],
    ['Bash: b; Bash: a (running)'],
    ['Bash: a'],
    ['End of the turn'],
  ])
  const state = decide(before(a), NO_TURN_STATE, TOGETHER).state
  const [save] = decide(after(b), state, TOGETHER).saves
  expect(save?.metadata).toMatchObject({ together: true, calls: ['Bash: b', 'Bash: a'] })
})

test('where calls run concurrently, a read does not end another call', () => {
  expect(follow([before(shell('a')), before(read)], TOGETHER).at(-1)).toEqual([])
})

test('calls without ids are paired by their input', () => {
  const nameless = (command: string) => ({ ...shell(command), callId: undefined })
  expect(
    follow(
      [
        before(nameless('a')),
        before(nameless('b')),
        after(nameless('a')),
        after(nameless('b')),
        end,
      ],
      TOGETHER,
    ),
  ).toEqual([
    ['Before Bash: a'],
    ['Bash: a (running)'],
    ['Bash: a; Bash: b (running)'],
    ['Bash: b'],
    ['End of the turn'],
  ])
})

test('the call that started a subagent counts as running', () => {
  const task: Tool = {
    name: 'Agent',
    input: { description: 'look' },
    callId: 't',
    effect: 'delegates',
  }
  const inside = { agentId: 'a-1' }
  const sequence: AgentEvent[] = [
    before(task),
    { ...facts, ...inside, type: 'subagent-start' },
    before(write('s.txt'), inside),
    after(write('s.txt'), inside),
    { ...facts, ...inside, type: 'subagent-end' },
    after(task),
  ]
  expect(follow(sequence)).toEqual([
    ['Before Agent: look'],
    [],
    ['Before Write s.txt'],
    ['Write s.txt'],
    [],
    ['Agent: look'],
  ])
  // The subagent reports each call, so the delegating call does not count as work.
  const [beginning] = decide(before(task), NO_TURN_STATE, ONE_BY_ONE).saves
  expect(beginning?.moment).toEqual({ type: 'event', who: 'claude', session: 's', over: 'agent' })
})

test('compaction restarts a session without ending running calls', () => {
  const { state } = decide(before(shell('a')), NO_TURN_STATE, TOGETHER)
  expect(decide(start('compact'), state, TOGETHER).state.running).toHaveLength(1)
  expect(decide(start('resume'), state, TOGETHER).state.running).toHaveLength(0)
})

test('the next save covers the calls of a failed one', () => {
  const events = [before(write('a')), after(write('a'))]
  let state = events.reduce((known, event) => decide(event, known, ONE_BY_ONE).state, NO_TURN_STATE)
  const failed = decide(before(shell('x')), state, ONE_BY_ONE)
  state = failed.state
  const [next] = decide(after(shell('x')), state, ONE_BY_ONE).saves
  expect(next?.reason).toBe('Write a; Bash: x')
})

test('the metadata links a checkpoint to the conversation', () => {
  const asked = decide(
    { ...facts, type: 'turn-start', prompt: 'Do it', turnId: 't-1' },
    NO_TURN_STATE,
    ONE_BY_ONE,
  )
  const decision = decide(
    { ...facts, type: 'after-tool', tool: shell('ls'), agentId: 'a', transcriptPath: '/t.jsonl' },
    asked.state,
    ONE_BY_ONE,
  )
  expect(decision.saves[0]).toEqual({
    reason: 'Bash: ls',
    toolCallId: 'id-ls',
    always: false,
    covers: ['id-ls'],
    metadata: {
      agent: 'claude',
      event: 'Event',
      at: 'after-tool',
      agentSession: 's',
      turnId: 't-1',
      prompt: 'Do it',
      tool: 'Bash: ls',
      toolCallId: 'id-ls',
      agentId: 'a',
      transcript: '/t.jsonl',
      calls: ['Bash: ls'],
    },
    moment: { type: 'event', who: 'claude', session: 's', agentId: 'a', ends: 'id-ls' },
  })
})

test('in an encrypted store no reason and no state contains a prompt or a command', () => {
  const discreet = { ...ONE_BY_ONE, hidesText: true }
  const asked = decide(prompt('the secret plan'), NO_TURN_STATE, discreet)
  const command = { ...shell('secret --key'), callId: 'c-1' }
  const run = decide(before(command), asked.state, discreet)
  const done = decide(after(command), run.state, discreet)
  const reasons = [...asked.saves, ...run.saves, ...done.saves].map(({ reason }) => reason)
  expect(reasons).toEqual(['You: a prompt', 'Before Bash', 'Bash'])
  expect(JSON.stringify([run.state, done.state])).not.toContain('--key')
  expect(JSON.stringify(asked.state)).not.toContain('plan')
  expect(asked.saves[0]?.metadata.prompt).toBe('the secret plan')
})

test('for any sequence, the state stays small, every prompt is saved, and reasons are short lines', () => {
  const tool = fc.oneof(
    fc.string().map(shell),
    fc.string().map(write),
    fc.constant(read),
    fc.constant<Tool>({
      name: '\ud800'.repeat(999),
      input: [],
      callId: undefined,
      effect: 'anything',
    }),
  )
  const agentId = fc.option(fc.constantFrom('a', 'b'), { nil: undefined })
  const event = fc.oneof(
    fc.string({ maxLength: 3000 }).map(prompt),
    fc.tuple(tool, agentId).map(([one, id]) => before(one, { agentId: id })),
    fc.tuple(tool, agentId).map(([one, id]) => after(one, { agentId: id })),
    fc.constantFrom(end, over, start(), start('compact')),
  )
  fc.assert(
    fc.property(fc.array(event, { maxLength: 120 }), fc.boolean(), (events, runsToolsTogether) => {
      let state: TurnState = NO_TURN_STATE
      for (const one of events) {
        const decision = decide(one, state, { runsToolsTogether, hidesText: false })
        state = decision.state
        expect(state.running.length + state.ended.length).toBeLessThanOrEqual(2 * MAX_CALLS)
        const isKept = decision.saves.some(({ always }) => always)
        expect(isKept).toBe(one.type === 'turn-start')
        for (const { reason } of decision.saves) {
          expect(reason).toMatch(/^[^\n\r\0\p{Cs}]{1,400}$/u)
        }
      }
    }),
    { numRuns: 80 },
  )
})

test('a checkpoint says that a call which it names failed', () => {
  const failing = { ...shell('npm test'), failed: true as const }
  const metadataOf = (events: readonly AgentEvent[]) => {
    let state: TurnState = NO_TURN_STATE
    return events.flatMap((event) => {
      const decision = decide(event, state, ONE_BY_ONE)
      state = decision.saves.reduce(afterSave, decision.state)
      return decision.saves.map(({ metadata: { at, calls, failed } }) => ({ at, calls, failed }))
    })
  }
  expect(metadataOf([before(shell('npm test')), after(failing), end])).toEqual([
    { at: 'before-tool', calls: undefined, failed: undefined },
    { at: 'after-tool', calls: ['Bash: npm test'], failed: true },
    { at: 'turn-end', calls: undefined, failed: undefined },
  ])
  // A save that failed leaves the call to the next one, across processes.
  const { state } = decide(after(failing), NO_TURN_STATE, ONE_BY_ONE)
  const kept = parseTurnState(JSON.parse(JSON.stringify(state)))
  expect(decide(end, kept, ONE_BY_ONE).saves[0]?.metadata).toMatchObject({ failed: true })
})
