// Checkpoints of sessions: saving, listing, showing, going back, forking.
import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runAgent, startAgent } from '../agent.js'
import { prepared, type Scratch, scratch, steady } from '../program.js'

const ID = expect.stringMatching(/^[bcdfghjklmnpqrstvwxz]{18}$/)

type Listed = { readonly checkpoints: readonly { readonly id: string }[] }
const idsOf = (s: Scratch, ...args: string[]) =>
  (s.json(['list', ...args]) as Listed).checkpoints.map(({ id }) => id)
const stateOf = (s: Scratch, session: string) =>
  (s.json(['resume', session]) as { state: unknown }).state
const errorOf = (s: Scratch, ...args: string[]) => {
  const { code, stdout, stderr } = s.run(args)
  expect([code, stdout]).toEqual([2, ''])
  return stderr
}

/** Step 0 with state, step 1 with files and state, step 2 with another state. */
function makeSteps(): Scratch {
  const s = scratch({ 'a.txt': 'one\n' })
  const save = (state: unknown, ...args: string[]) =>
    s.run(['save', '--session', 'fix-login', '--state', '-', ...args], {
      input: JSON.stringify(state),
    })
  save({ plan: 'first' }, '--no-files')
  save({ plan: 'second' }, '-m', 'half way')
  s.write({ 'a.txt': 'two\n' })
  save({ plan: 'third', done: ['a', 'b'] }, '--name', 'works')
  return s
}

const withSteps = prepared(makeSteps)

test('save adds steps to a session, with state, with files, or with both', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const save = (...args: string[]) => {
    const { code, stdout, stderr } = s.run(['save', '--session', 'fix login', ...args], {
      input: '\ufeff{"plan": ["a", 1, null]}',
    })
    expect([code, stderr]).toEqual([0, ''])
    return steady(stdout)
  }
  expect(save('--state', '-', '--no-files')).toBe('Saved <id> as step 0 of fix login: the state.\n')
  expect(save('--state', '-')).toBe(
    'Saved <id> as step 1 of fix login: 1 file changed, +1 −0; the state.\n',
  )
  expect(save()).toBe('Saved <id> as step 2 of fix login: 0 files changed, +0 −0; the state.\n')
  expect(stateOf(s, 'fix login')).toEqual({ plan: ['a', 1, null] })
  s.write({ 'state.json': '[1]' })
  expect(
    s.json(['save', '--session', 'other', '--state', 'state.json', '--no-files', '-m', 'why']),
  ).toEqual({
    id: ID,
    author: null,
    name: null,
    reason: 'why',
    createdAt: expect.any(String),
    session: 'other',
    sessionAgent: null,
    turn: 0,
    step: 0,
    status: 'in_progress',
    files: 0,
    insertions: 0,
    deletions: 0,
    skipped: 0,
    skippedByReason: {},
    hasState: true,
    hasFiles: false,
    pinned: false,
    kind: 'save',
    moment: null,
    created: true,
  })
})

test('save refuses contradicting options, and leaves no session behind', () => {
  using s = scratch({ 'bad.json': '{\n  "a": 1,\n}\n', 'cut.json': '{"a"', 'a.txt': '1' })
  writeFileSync(join(s.project, 'latin1.json'), Buffer.from([0x22, 0xe9, 0x22]))
  expect(errorOf(s, 'save', '--state', 'bad.json')).toContain('Error: --state needs --session too.')
  expect(errorOf(s, 'save', '--session', 'x', '--no-files')).toContain(
    'Error: --no-files needs --state too.\nUsage: savestate save ',
  )
  const stateError = (path: string) => errorOf(s, 'save', '--session', 'x', '--state', path)
  expect(stateError('bad.json')).toContain('Error: "bad.json" is not JSON: line 2, column 9.\n')
  expect(stateError('cut.json')).toContain('Error: "cut.json" ends too early: line 1, column 5.\n')
  expect(stateError('latin1.json')).toBe(
    'Error: "latin1.json" cannot be read: it is not UTF-8 text.\n',
  )
  expect(stateError('none.json')).toBe(
    'Error: "none.json" cannot be read: there is no such file.\n',
  )
  s.write({ 'huge.json': '' })
  truncateSync(join(s.project, 'huge.json'), 2 ** 31)
  expect(stateError('huge.json')).toBe('Error: "huge.json" cannot be read: it is too large.\n')
  expect(stateError('.')).toBe('Error: "." cannot be read: it is a folder.\n')
  expect(stateError('-')).toContain('Error: stdin ends too early: line 1, column 1.\n')
  expect(errorOf(s, 'save', '--session', 'x', '--name', '7')).toContain('"7" cannot be a name')
  expect(errorOf(s, 'save', '--session', '')).toContain('A session id has 1 to 200 characters')
  expect(s.json(['sessions'])).toEqual({ sessions: [] })
  s.run(['-C', s.project, 'save', '--session', 'mine'])
  expect(s.run(['-C', s.folder, 'save', '--session', 'mine'])).toMatchObject({ code: 2 })
})

test('a session that a live process is writing to is refused', async () => {
  using s = scratch({ 'a.txt': '1' })
  const agent = await startAgent(
    s,
    `const session = await store.session('busy', { project })
     await session.save({ state: { a: 1 }, files: true })`,
  )
  try {
    for (const args of [
      ['save', '--session', 'busy'],
      ['rewind', '1', '--state'],
      ['rewind', '1', '--both', '--yes'],
    ]) {
      expect(JSON.parse(errorOf(s, ...args, '--json'))).toMatchObject({
        error: { code: 'SESSION_BUSY' },
      })
    }
    expect(s.json(['list', '--session', 'busy'])).toMatchObject({ checkpoints: [{ step: 0 }] })
    expect(s.json(['rewind', '1', '--state', '--dry-run'])).toMatchObject({ applied: false })
    expect(s.run(['fork', '1'])).toMatchObject({ code: 0 })
  } finally {
    await agent.kill()
  }
})

test('list shows session, step and contents, and the steps of one session', () => {
  // It compares ages.
  using s = makeSteps()
  s.write({ 'a.txt': 'three\n' })
  s.run(['save', '-m', 'by hand'])
  expect(steady(s.run(['list']).stdout).split('\n')).toEqual([
    '1  <id>  by hand   you +1 −1 · just now',
    '2  <id>  [works]   fix-login:2 · agent +1 −1 · just now',
    '3  <id>  half way  fix-login:1 · agent+you +1 · just now',
    '4  <id>  (state)   fix-login:0 · just now',
    '',
  ])
  expect(steady(s.run(['list', '--session', 'fix-login']).stdout).split('\n')).toEqual([
    'step 2  <id>  [works]   agent +1 −1 · just now',
    'step 1  <id>  half way  agent+you +1 · just now',
    'step 0  <id>  (state)   just now',
    '',
  ])
  expect(idsOf(s, '--session', 'fix-login')).toEqual(idsOf(s).slice(1))
  const limited = s.run(['list', '--session', 'fix-login', '--limit', '1'], { cwd: s.folder })
  expect(limited.stderr).toBe('2 more: savestate list --session fix-login -n 3\n')
  expect(errorOf(s, 'list', '--session', 'nobody')).toContain('There is no session "nobody"')
  expect(errorOf(s, 'list', '--session', 'a', '--all')).toContain('cannot be given together')
})

test('every printed id is unique, also among checkpoints that are not printed', async () => {
  using s = scratch()
  await runAgent(
    s,
    `const sessions = [await store.session('a', { project }), await store.session('b', { project })]
     for (let n = 0; n < 6; n += 1) for (const session of sessions) await session.save({ state: { n } })`,
  )
  const ids = idsOf(s)
  const typed = (...args: string[]) => s.run(args).stdout.match(/\b[bcdfghjklmnpqrstvwxz]{4,}\b/g)
  for (const shown of [
    typed(),
    typed('list', '--session', 'a'),
    ...[1, 2, 3, 4, 5, 6].map((limit) => typed('list', '--limit', String(limit))),
    typed('list', '--all', '--limit', '3'),
  ]) {
    const meant = shown?.map((start) => ids.filter((id) => id.startsWith(start)).length)
    expect(meant).toEqual(shown?.map(() => 1))
  }
})

test('a session of no project is listed and shown', async () => {
  using s = scratch()
  await runAgent(
    s,
    `const session = await store.session('loose')
     await session.save({ state: ['a'] })
     await session.save({ state: ['a', 'b'], metadata: { size: 5n } })`,
  )
  expect(steady(s.run(['list', '--all']).stdout)).toBe(
    '<id>  (state)  loose:1 · (no folder) · just now\n<id>  (state)  loose:0 · (no folder) · just now\n',
  )
  expect(s.json(['show', '1', '--of', 'loose'])).toMatchObject({
    step: 1,
    agent: { metadata: { size: { $: ['BigInt', '5'] } } },
  })
  expect(s.run(['rewind', '2', '--of', 'loose', '--state'])).toMatchObject({ code: 0 })
  expect(stateOf(s, 'loose')).toEqual(['a'])
  expect(errorOf(s, 'show', '9', '--of', 'loose')).toContain('There is no checkpoint 9: ')
})

test('show prints the step of a checkpoint in its session, and its state', async () => {
  using s = scratch({ 'a.txt': 'one\n' })
  await runAgent(
    s,
    `const session = await store.session('fix-login', { agent: 'coder', project })
     await session.save({ state: { messages: [] } })
     await session.newTurn()
     await session.tool({ id: 'call-1', name: 'read', args: {} }, () => 'ok')
     await session.tool({ id: 'call-2', name: 'write', args: {} }, () => { throw new Error('no') }).catch(() => {})
     await session.save({
       state: { messages: [{ role: 'user', content: 'a' }, { role: 'user', content: 'b' }], plan: 'to do' },
       toolCall: 'call-2', schemaVersion: 3, files: true, status: 'halted', metadata: { cost: 1 },
     })`,
  )
  const shown = steady(s.run(['show', '1']).stdout).split('\n')
  expect(shown.slice(0, 16)).toEqual([
    'Checkpoint  <id>',
    'Created:    <time> (just now), save',
    'Session:    fix-login, step 1, turn 1',
    'Status:     halted:',
    'Parent:     <id>',
    'Tool call:  call-2',
    'State:      2 keys, version 3',
    '  messages  list of 2',
    '  plan      value',
    'Tools:      newest first',
    '  failed     write (call-2), step 1',
    '  confirmed  read (call-1), step 1',
    'Contains:   1 file, 4 bytes',
    'Changed:    1 file +1 −0 since the one before',
    'By:         coder+you',
    '  added    a.txt  +1 −0',
  ])
  const alone = steady(s.run(['show', '2']).stdout)
  expect(alone.split('\n').slice(2)).toEqual([
    'Session:    fix-login, step 0, turn 0',
    'Status:     in_progress',
    'State:      1 key',
    '  messages  list of 0',
    '',
  ])
  const call = (facts: object) => ({
    step: 1,
    startedAt: expect.any(String),
    idempotencyKey: expect.stringMatching(/^savestate-/),
    ...facts,
  })
  expect(s.json(['show', '1'])).toMatchObject({
    session: 'fix-login',
    step: 1,
    status: 'halted: ',
    fileCount: 1,
    changes: [{ path: 'a.txt' }],
  })
  expect((s.json(['show', '1']) as { agent: unknown }).agent).toEqual({
    parent: ID,
    turn: 1,
    toolCall: 'call-2',
    schemaVersion: 3,
    metadata: { cost: 1 },
    state: {
      kind: 'object',
      length: 2,
      keys: [
        { key: 'messages', kind: 'list', length: 2 },
        { key: 'plan', kind: 'value', length: null },
      ],
    },
    tokens: null,
    costUsd: null,
    tools: [
      call({ id: 'call-1', name: 'read', status: 'confirmed' }),
      call({ id: 'call-2', name: 'write', status: 'failed' }),
    ],
  })
})

test('rewind brings back files, state or both', () => {
  using s = withSteps()
  const file = () => readFileSync(join(s.project, 'a.txt'), 'utf8')
  const [third = '', second = '', first = ''] = idsOf(s)
  const went = (...args: string[]) => {
    const { code, stdout, stderr } = s.run(['rewind', ...args])
    expect([code, stderr]).toEqual([0, ''])
    return steady(stdout)
  }
  expect(went(second, '--state', '--dry-run')).toBe(
    'The state of fix-login would go back to <id> (step 1).\nA dry run: nothing has been changed.\n',
  )
  expect(went(first, '--state')).toBe(
    'Rewound the state of fix-login to <id> (step 0). Go back with: savestate rewind <id> --state\n',
  )
  expect([stateOf(s, 'fix-login'), file()]).toEqual([{ plan: 'first' }, 'two\n'])

  expect(s.json(['rewind', second, '--yes'])).toEqual({
    to: expect.objectContaining({ id: second, number: 3, step: 1, moment: null }),
    notRestored: [],
    outside: [],
    target: second,
    plan: {
      write: [{ path: 'a.txt', reason: 'content differs', type: 'file', change: 'modified' }],
      remove: [],
      keep: [],
      conflict: [],
    },
    applied: true,
    declined: false,
    safety: ID,
    checkpoint: ID,
    restored: 'files',
  })
  expect([stateOf(s, 'fix-login'), file()]).toEqual([{ plan: 'first' }, 'one\n'])

  expect(went(third, '--both', '--dry-run')).toBe(
    'The state of fix-login would go back to <id> (step 2).\n' +
      'Will be written (1 file):\n  ~ a.txt  (content differs)\nA dry run: nothing has been changed.\n',
  )
  expect(went(third, '--both', '--yes')).toBe(
    'Rewound the folder and the state of fix-login to <id> (step 2): 1 file written. ' +
      'Undo with: savestate undo\n',
  )
  expect([stateOf(s, 'fix-login'), file()]).toEqual([{ plan: 'third', done: ['a', 'b'] }, 'two\n'])
  expect(s.run(['undo', '--dry-run']).stdout).toBe(
    'The state of fix-login will change too.\n' +
      'Will be written (1 file):\n  ~ a.txt  (content differs)\nA dry run: nothing has been changed.\n',
  )
  expect(steady(s.run(['undo', '--yes']).stdout)).toBe(
    'Undid the rewind to <id> ("works"): 1 file written, and the state of fix-login changed. ' +
      'Redo with: savestate redo\n',
  )
  expect([stateOf(s, 'fix-login'), file()]).toEqual([{ plan: 'first' }, 'one\n'])
  s.write({ 'a.txt': 'two\n' })
  expect(steady(s.run(['redo', '--yes']).stdout)).toBe(
    'Repeated the rewind to <id> ("works"): the folder is as it was after the rewind, ' +
      'and the state of fix-login changed. Undo with: savestate undo\n',
  )
  s.run(['undo', '--yes'])
  expect([stateOf(s, 'fix-login'), file()]).toEqual([{ plan: 'first' }, 'one\n'])
  expect(went(second, '--both')).toBe(
    'Rewound the state of fix-login to <id> (step 1); the folder is as it was then. ' +
      'Go back with: savestate rewind <id> --state\n',
  )
  expect(stateOf(s, 'fix-login')).toEqual({ plan: 'second' })
})

test('rewind refuses missing parts and contradicting options', () => {
  using s = withSteps()
  s.run(['save'])
  s.write({ 'a.txt': 'three\n' })
  s.run(['save', '--name', 'alone'])
  const [, , , first = ''] = idsOf(s)
  expect(errorOf(s, 'rewind', 'alone', '--state')).toMatch(
    /^Error: Checkpoint \w+ belongs to no session\.\nIt has no conversation and no state to go back to\. /,
  )
  expect(JSON.parse(errorOf(s, 'rewind', first, '--both', '--yes', '--json'))).toMatchObject({
    error: { code: 'CHECKPOINT_PARTIAL' },
  })
  expect(JSON.parse(errorOf(s, 'rewind', first, '--yes', '--json'))).toMatchObject({
    error: { code: 'CHECKPOINT_PARTIAL' },
  })
  expect(errorOf(s, 'rewind', '1', '--state', '--both')).toContain('cannot be given together')
  expect(errorOf(s, 'rewind', '1', '--state', '--path', 'a.txt')).toContain(
    'Error: --path and --state cannot be given together.\n',
  )
  const unasked = errorOf(s, 'rewind', 'works', '--both', '--json')
  expect(JSON.parse(unasked)).toMatchObject({ error: { code: 'CONFIRMATION_NEEDED' } })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('three\n')
})

test('rewind refuses the files of a session of another project', () => {
  using s = withSteps()
  s.write({ '../elsewhere/package.json': '{}' })
  const here = { cwd: join(s.folder, 'elsewhere') }
  s.run(['save'], here)
  expect(s.run(['rewind', '1', '--of', 'fix-login', '--dry-run'], here)).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'Error: The session "fix-login" belongs to another project.\n' +
      `Work there: savestate -C ${s.project} rewind 1 --session fix-login\n`,
  })
  // With its state they go back from anywhere; the undo is that of the other project.
  s.write({ 'a.txt': 'three\n' })
  const undo = (cwd: string) =>
    s.run(['rewind', '2', '--of', 'fix-login', '--both', '-y'], { cwd }).stdout.split('with: ')[1]
  expect(undo(here.cwd)).toBe(`savestate -C ${s.project} undo\n`)
  s.write({ 'a.txt': 'three\n' })
  expect(undo(s.project)).toBe('savestate undo\n')
})

test('fork starts a session at a checkpoint and changes nothing else', () => {
  using s = withSteps()
  expect(s.run(['fork', '2'])).toEqual({
    code: 0,
    stdout:
      'The session fix-login-fork-1 starts at step 1 of fix-login.\n' +
      'Continue it with: savestate resume fix-login-fork-1\n',
    stderr: '',
  })
  expect(stateOf(s, 'fix-login-fork-1')).toEqual({ plan: 'second' })
  expect(stateOf(s, 'fix-login')).toEqual({ plan: 'third', done: ['a', 'b'] })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two\n')
  expect(s.run(['fork', 'works', '--of', 'fix-login']).stdout).toContain('fix-login-fork-2 starts')
  expect(s.run(['fork', '3', '--session', 'fix-login', '--as', "plan b's"]).stdout).toBe(
    "The session plan b's starts at step 0 of fix-login.\n" +
      "Continue it with: savestate resume 'plan b'\\''s'\n",
  )
  const dashed = s.run(['fork', '3', '--session', 'fix-login', '--as', '--help me']).stdout
  expect(dashed).toContain("Continue it with: savestate resume -- '--help me'\n")
  expect(s.shell(dashed.slice(dashed.indexOf('savestate')))).toMatchObject({ code: 0 })
  // The longest allowed id leaves no space for an ending, so the user has to choose one.
  const longest = '🚀'.repeat(100)
  s.run(['fork', '3', '--session', 'fix-login', '--as', longest])
  expect(s.run(['fork', '1', '--of', longest])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('A session id has 1 to 200 characters'),
  })
  s.run(['save', '-m', 'by hand'])
  s.write({ 'a.txt': 'three\n' })
  const { id } = s.json(['save']) as { id: string }
  const view = s.json(['fork', '1'])
  expect(view).toMatchObject({
    id: 'fork-1',
    agent: null,
    project: s.project,
    status: 'in_progress',
    steps: 1,
    forkedFrom: id,
    interrupted: true,
    summary: { total: 1, first: { step: 0, hasFiles: true, hasState: false } },
  })
  const { sessions } = s.json(['sessions', '--limit', '1']) as { sessions: unknown[] }
  expect(view).toEqual(sessions[0])
  expect(errorOf(s, 'fork', '1', '--as', 'fix-login')).toContain(
    'A session "fix-login" already exists',
  )
  expect(errorOf(s, 'fork', '1', '--of', 'nobody')).toContain('There is no session "nobody"')
  expect(errorOf(s, 'fork', '99')).toContain('There is no checkpoint 99: ')
  expect(existsSync(join(s.project, 'a.txt'))).toBe(true)
})
