// Sessions on the command line: listing, finding interrupted ones, and resuming.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runAgent, startAgent } from '../agent.js'
import { type Scratch, scratch, steady } from '../program.js'

const ID = expect.stringMatching(/^[bcdfghjklmnpqrstvwxz]{18}$/)
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

function checkpoint(facts: Readonly<Record<string, unknown>>) {
  return {
    id: ID,
    name: null,
    reason: null,
    createdAt: TIME,
    session: 'fix-login',
    sessionAgent: 'coder',
    turn: 0,
    step: 0,
    status: 'in_progress',
    files: 0,
    insertions: 0,
    deletions: 0,
    skipped: 0,
    skippedByReason: {},
    author: null,
    hasState: true,
    hasFiles: false,
    pinned: false,
    kind: 'save',
    moment: null,
    ...facts,
  }
}

function session(s: Scratch, facts: Readonly<Record<string, unknown>> = {}) {
  return {
    id: 'fix-login',
    agent: 'coder',
    project: s.project,
    status: 'in_progress',
    createdAt: TIME,
    updatedAt: TIME,
    head: ID,
    steps: 1,
    turn: 0,
    metadata: null,
    forkedFrom: null,
    interrupted: true,
    ...facts,
  }
}

const SAVE_ONE = `
  const session = await store.session('fix-login', { agent: 'coder', project })
  await session.save({ name: 'begun', state: { messages: [{ role: 'user', content: 'fix it' }], at: new Date(5) } })`

test('without sessions the output says how to start one', () => {
  using s = scratch()
  expect(s.run(['sessions'])).toEqual({
    code: 0,
    stdout:
      'There are no sessions. Agents with hooks (`savestate install claude`) and programs that use the SDK start one. To start one yourself:\n' +
      '  savestate save --session ID --state FILE\n',
    stderr: '',
  })
  expect(s.run(['sessions', '--interrupted']).stdout).toBe('No session is interrupted.\n')
  expect(s.run(['sessions', '--status', 'failed']).stdout).toBe(
    'No session has the status failed.\n',
  )
  expect(s.json(['sessions'])).toEqual({ sessions: [] })
})

test('a killed agent is found, and continues where it was', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const agent = await startAgent(
    s,
    `${SAVE_ONE}
     await session.save({ reason: 'with files', files: true })
     void session.tool({ id: 'call-1', name: 'deploy', args: { to: 'staging', at: new Date(7) } }, () => new Promise(() => {}))`,
  )
  expect(s.json(['sessions', '--interrupted'])).toEqual({ sessions: [] })
  const busy = s.run(['resume', 'fix-login'])
  expect([busy.code, busy.stdout]).toEqual([2, ''])
  expect(busy.stderr).toContain(`Process ${agent.pid} on `)
  expect(JSON.parse(s.run(['resume', 'fix-login', '--json']).stderr)).toMatchObject({
    error: { code: 'SESSION_BUSY' },
  })
  expect(s.run(['sessions']).stdout).toMatch(/^fix-login {2}coder {2}in_progress {2}2 steps {2}/)
  await agent.kill()

  s.write({ 'a.txt': 'changed\n' })
  const first = checkpoint({ name: 'begun' })
  const last = checkpoint({
    step: 1,
    reason: 'with files',
    hasFiles: true,
    files: 1,
    insertions: 1,
    author: 'coder+you',
  })
  expect(s.json(['sessions', '--interrupted'])).toEqual({
    sessions: [
      {
        ...session(s, { steps: 2 }),
        summary: {
          total: 2,
          uniqueNames: 1,
          countByName: { begun: 1 },
          first,
          last,
          seconds: expect.any(Number),
        },
      },
    ],
  })
  const listed = s.run(['sessions', '--interrupted'])
  // The random name of the folder may look like an id, so the expected text is steadied too.
  expect(steady(listed.stdout)).toBe(
    steady(`fix-login  coder  interrupted  2 steps  just now  ${s.project}\n`),
  )
  expect(listed.stderr).toBe('To continue one that is interrupted: savestate resume ID\n')

  const { brief, ...resumed } = s.json(['resume', 'fix-login']) as { brief: string }
  expect(resumed).toEqual({
    session: session(s, { steps: 2, interrupted: false }),
    checkpoint: last,
    state: { messages: [{ role: 'user', content: 'fix it' }], at: { $: ['Date', 5] } },
    inFlight: [
      {
        id: 'call-1',
        name: 'deploy',
        args: { to: 'staging', at: { $: ['Date', 7] } },
        idempotencyKey: expect.stringMatching(/^savestate-[0-9a-f]{32}$/),
        startedAt: TIME,
        effect: 'unverified',
        partials: [],
      },
    ],
    changedSince: [
      {
        path: 'a.txt',
        change: 'modified',
        type: 'file',
        insertions: 1,
        deletions: 1,
        modeBefore: '0644',
        modeAfter: '0644',
      },
    ],
    notices: [],
  })
  const text = s.run(['resume', 'fix-login'])
  expect(text).toEqual({ code: 0, stdout: `${brief}\n`, stderr: '' })
  expect(brief).toContain('You are resuming the session "fix-login"')
  expect(brief).toContain('deploy (call call-1)')
  expect(brief).toContain('modified a.txt')
  const short = s.run(['resume', 'fix-login', '--max-chars', '60']).stdout
  expect(short.length).toBeLessThanOrEqual(61)
  // The lease was given back each time, so an agent can take it.
  await runAgent(s, `await (await store.resume('fix-login')).session.complete()`)
})

test('sessions are listed by status, most recent first, up to the limit', async () => {
  using s = scratch()
  await runAgent(
    s,
    `for (const id of ['one', 'two', 'three']) {
       const session = await store.session(id)
       if (id === 'two') await session.complete()
       if (id === 'three') await session.fail('no\\u001b[31m money')
     }`,
  )
  const ids = (...args: string[]) => {
    const { sessions } = s.json(['sessions', ...args]) as { sessions: { id: string }[] }
    return sessions.map(({ id }) => id)
  }
  expect(ids()).toEqual(['three', 'two', 'one'])
  expect(ids('--status', 'completed')).toEqual(['two'])
  expect(ids('--interrupted')).toEqual(['one'])
  expect(ids('--limit', '2')).toEqual(['three', 'two'])
  const { stdout, stderr } = s.run(['sessions', '--limit', '2'])
  expect(
    steady(stdout)
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ['three', 'failed: no\\x1b[31m money', '0 steps', 'just now'],
    ['two', 'completed', '0 steps', 'just now'],
    [''],
  ])
  expect(stderr).toContain('There are more. See them with: savestate sessions --limit 10\n')
})

test('a state with instances of unknown classes can be read', async () => {
  using s = scratch()
  await runAgent(
    s,
    `class Money { constructor(cents) { this.cents = cents } }
     const classes = new sdk.ClassRegistry()
     classes.register('Money', { type: Money, toValue: (m) => m.cents, fromValue: (cents) => new Money(cents) })
     const shop = await sdk.openStore({ classes })
     await (await shop.session('till')).save({ state: { price: new Money(250) } })
     await shop.close()`,
  )
  expect(s.json(['resume', 'till'])).toMatchObject({
    state: { price: { $: ['Class', 'Money', 250] } },
  })
})

test('wrong usage prints the right one', () => {
  using s = scratch()
  const errorOf = (...args: string[]) => {
    const { code, stdout, stderr } = s.run(args)
    expect([code, stdout]).toEqual([2, ''])
    return stderr
  }
  expect(errorOf('resume', 'nobody')).toBe(
    'Error: There is no session "nobody".\n`savestate sessions` lists them.\n',
  )
  expect(errorOf('resume')).toContain('Error: <session> is missing.\nUsage: savestate resume ')
  expect(errorOf('sessions', '--status', 'done')).toContain(
    'Error: --status takes one of in_progress, completed, failed, halted, interrupted, not "done".\n',
  )
  expect(errorOf('sessions', '--status', 'completed', '--interrupted')).toContain(
    'Error: --interrupted and --status cannot be given together.\n',
  )
})

test('sessions can be filtered by every printed status, and by project', () => {
  using s = scratch({ 'one/package.json': '{}', 'two/package.json': '{}' })
  for (const name of ['one', 'two'])
    s.run(['-C', join(s.project, name), 'save', '--session', `of-${name}`])
  const idsOf = (...args: string[]) => {
    const { stdout, code } = s.run(['sessions', '--json', ...args])
    expect(code).toBe(0)
    const { sessions } = JSON.parse(stdout) as { sessions: { id: string }[] }
    return sessions.map(({ id }) => id)
  }
  expect(s.run(['sessions']).stdout).toContain('interrupted')
  expect(idsOf('--status', 'interrupted')).toEqual(['of-two', 'of-one'])
  expect(idsOf('--status', 'interrupted')).toEqual(idsOf('--interrupted'))
  expect(idsOf('--here', '-C', join(s.project, 'one'))).toEqual(['of-one'])
  expect(idsOf('--here', '--status', 'completed', '-C', join(s.project, 'one'))).toEqual([])
  expect(s.run(['sessions', '--here', '-C', s.project]).stdout).toBe(
    'This project has no sessions.\n',
  )
})
