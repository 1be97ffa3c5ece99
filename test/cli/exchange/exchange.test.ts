// Export and import of sessions: all checkpoints as JSON, the latest state as YAML.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { runAgent } from '../agent.js'
import { type Scratch, scratch } from '../program.js'

const errorOf = (s: Scratch, ...args: string[]) => {
  const { code, stdout, stderr } = s.run(args)
  expect([code, stdout]).toEqual([2, ''])
  return stderr
}
const exportOf = (s: Scratch, ...args: string[]): unknown =>
  JSON.parse(s.run(['export', ...args]).stdout)
const stateOf = (s: Scratch, session: string) =>
  (s.json(['resume', session]) as { state: unknown }).state

const PLAIN = `
  const session = await store.session('plain', { project })
  await session.save({ name: 'begun', reason: 'at once', state: { messages: [] }, metadata: { cost: 1 } })
  await session.save({ reason: 'half way', state: { messages: [{ role: 'user', content: '\\u001b[31m' }] } })`

const RICH = `
  const session = await store.session('rich', { project })
  const shared = { deep: true }
  await session.save({ state: {
    at: new Date(1763200000000), seen: new Map([['a', new Set([1, 2n])]]), twice: [[shared, shared]],
    odd: { $: 'money' }, nothing: undefined, minus: -0,
  }, metadata: { since: new Date(5) } })
  await session.save({ state: { odd: { $: 'money' } } })`

test('export prints all checkpoints, oldest first, and import adds them to another store once', async () => {
  using s = scratch()
  expect(errorOf(s, 'export')).toContain('Error: This project has no session.\n')
  await runAgent(s, PLAIN)
  const time = expect.stringMatching(/^\d{4}-.*Z$/)
  const id = expect.stringMatching(/^[a-z]{18}$/)
  const exported = exportOf(s)
  expect(exported).toEqual([
    {
      id,
      name: 'begun',
      reason: 'at once',
      timestamp: time,
      data: { messages: [] },
      metadata: { cost: 1 },
    },
    {
      id,
      name: 'half way',
      reason: 'half way',
      isNamed: false,
      timestamp: time,
      changes: [{ path: ['messages'], append: [{ role: 'user', content: '\u001b[31m' }] }],
      metadata: {},
    },
  ])
  expect(s.run(['export']).stdout).toBe(s.run(['export', '--json', '--format', 'json']).stdout)
  writeFileSync(join(s.project, 'out.json'), s.run(['export']).stdout)

  using other = scratch()
  const path = join(s.project, 'out.json')
  expect(other.run(['import', 'json', path, '--session', 'copy'])).toEqual({
    code: 0,
    stdout: 'Imported 2 checkpoints into copy.\n',
    stderr: '',
  })
  expect(other.json(['import', 'json', path, '--session', 'copy'])).toEqual({
    imported: 0,
    known: 2,
  })
  expect(other.run(['import', 'json', path, '--session', 'copy']).stdout).toBe(
    'Imported 0 checkpoints into copy. 2 were already there.\n',
  )
  expect(exportOf(other)).toEqual(exported)
  expect(other.json(['list'])).toMatchObject({
    checkpoints: [
      { name: null, reason: 'half way' },
      { name: 'begun', reason: 'at once' },
    ],
  })
  expect(stateOf(other, 'copy')).toEqual(stateOf(s, 'plain'))
  expect(s.json(['import', 'json', path, '--session', 'plain'])).toEqual({ imported: 0, known: 2 })
  expect(errorOf(s, 'export', '--session', 'nobody')).toContain('There is no session "nobody"')
})

test('values that JSON lacks survive export and import', async () => {
  using s = scratch()
  await runAgent(s, RICH)
  const copied = s.shell('savestate export --session rich | savestate import json - --session copy')
  expect(copied).toMatchObject({ code: 0, stdout: 'Imported 2 checkpoints into copy.\n' })
  expect(exportOf(s, '--session', 'copy')).toEqual(exportOf(s, '--session', 'rich'))
  expect(exportOf(s, '--session', 'copy')).toMatchObject([
    {
      tagged: true,
      data: { at: { $: ['Date', 1763200000000] }, odd: { $: ['Object', { $: 'money' }] } },
    },
    {
      changes: ['at', 'seen', 'twice', 'nothing', 'minus'].map((key) => ({
        path: [key],
        remove: true,
      })),
    },
  ])
  await runAgent(
    s,
    `import { deepStrictEqual } from 'node:assert'
     const [rich, copy] = [await store.session('rich'), await store.session('copy')]
     for (const ref of ['1', '2']) deepStrictEqual(await copy.stateAt(ref), await rich.stateAt(ref))
     const { twice: [pair] } = await copy.stateAt('2')
     deepStrictEqual(pair[0] === pair[1], true)`,
  )
})

test('long integers come back as they were given', () => {
  using s = scratch({ 'state.json': '{"id": 1234567890123456789, "n": 100000000000000000000}' })
  s.run(['save', '--session', 'ids', '--state', 'state.json', '--no-files'])
  const kept = { id: { $: ['BigInt', '1234567890123456789'] }, n: 1e20 }
  expect(stateOf(s, 'ids')).toEqual(kept)
  s.shell('savestate export --session ids | savestate import json - --session copy')
  expect(stateOf(s, 'copy')).toEqual(kept)
  const items = (mark: object) =>
    JSON.stringify([{ id: 'a:1', timestamp: '2026-11-15T12:00:00Z', data: { id: 0 }, ...mark }])
  const input = items({}).replace('"id":0', '"id":1234567890123456789')
  expect(s.run(['import', 'json', '-', '--session', 'by-hand'], { input }).code).toBe(0)
  expect(stateOf(s, 'by-hand')).toEqual({ id: kept.id })
  s.write({ 'breakpilot.json': input })
  expect(s.run(['import', 'breakpilot', 'breakpilot.json', '-y']).code).toBe(0)
  expect(stateOf(s, 'a')).toEqual({ id: kept.id })
  // In tagged JSON, an integer without a tag is a number.
  const tagged = items({ tagged: true }).replace('"id":0', '"id":1234567890123456789')
  expect(s.run(['import', 'json', '-', '--session', 'tagged'], { input: tagged }).code).toBe(0)
  expect(stateOf(s, 'tagged')).toEqual({ id: Number('1234567890123456789') })
})

test('a dry run reports what would be added, and adds nothing', async () => {
  using s = scratch({
    'state.yaml': 'goal: all\n',
    'time.json': '[{"id": "a", "timestamp": "soon"}]',
  })
  await runAgent(s, PLAIN)
  const list = JSON.parse(s.run(['export']).stdout) as unknown[]
  s.write({ 'out.json': JSON.stringify([...list, { id: 'new', timestamp: '2026-11-15' }]) })
  const tried = (...args: string[]) => s.run(['import', ...args, '--dry-run']).stdout
  const note = 'A dry run: nothing has been imported.\n'
  expect(tried('json', 'out.json', '--session', 'copy')).toBe(`copy: 3 checkpoints to add\n${note}`)
  expect(tried('yaml', 'state.yaml', '--session', 'copy')).toBe(
    `copy: 1 checkpoint to add\n${note}`,
  )
  expect(tried('json', 'out.json', '--session', 'plain')).toBe(
    `plain: 1 checkpoint to add, 2 already there\n${note}`,
  )
  expect(s.json(['import', 'json', 'out.json', '--session', 'plain', '--dry-run'])).toEqual({
    add: 1,
    known: 2,
  })
  expect(errorOf(s, 'import', 'json', 'time.json', '--session', 'copy', '--dry-run')).toContain(
    '"soon" is not a time',
  )
  expect(s.json(['sessions'])).toMatchObject({ sessions: [{ id: 'plain', steps: 2 }] })
  expect((s.json(['sessions']) as { sessions: unknown[] }).sessions).toHaveLength(1)
})

test('with several sessions --session is needed', async () => {
  using s = scratch()
  await runAgent(s, `for (const id of ['one', 'two']) await store.session(id, { project })`)
  expect(errorOf(s, 'export')).toBe(
    'Error: This project has 2 sessions.\nChoose one with --session: two, one\n',
  )
  expect(s.run(['export', '--session', 'one'])).toEqual({ code: 0, stdout: '[]\n', stderr: '' })
  expect(errorOf(s, 'export', '--format', 'toml')).toContain('--format takes one of json, yaml')
  expect(errorOf(s, 'export', '--session', 'one', '--format', 'yaml', '--json')).toContain(
    '--json and --format yaml cannot be given together',
  )
})

test('the latest state is exported as a YAML mapping with status and time, and imported again', async () => {
  using s = scratch()
  await runAgent(
    s,
    `const session = await store.session('task', { project })
     await session.save({ state: { old: 1 } })
     await session.save({ state: {
       goal: 'yes', progress: ['read: all', '2026-11-15', '12:30:45', 'multi\\nline\\n'], count: 3, ok: true, none: null,
     } })
     await store.session('empty', { project })`,
  )
  const { stdout, stderr } = s.run(['export', '--session', 'task', '--format', 'yaml'])
  expect(stderr).toBe('')
  const mapping: unknown = parse(stdout)
  const state = stateOf(s, 'task')
  expect(mapping).toEqual({
    ...(state as object),
    status: 'in_progress',
    updated: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  })
  expect(stdout).toMatch(/^goal: "yes"\n/)
  expect(parse(s.run(['export', '--session', 'empty', '--format', 'yaml']).stdout)).toEqual({
    status: 'in_progress',
    updated: expect.any(String),
  })
  writeFileSync(join(s.project, 'task.yaml'), stdout)
  const load = () => s.json(['import', 'yaml', 'task.yaml', '--session', 'loaded'])
  expect([load(), load()]).toEqual([
    { imported: 1, known: 0 },
    { imported: 0, known: 1 },
  ])
  expect(stateOf(s, 'loaded')).toEqual(mapping)
})

test('a state with values that YAML lacks is imported unchanged', async () => {
  using s = scratch()
  await runAgent(
    s,
    `const shared = { deep: [1n, -0, undefined] }
     const states = {
       kinds: { when: new Date(5), seen: new Set([1]), pair: { one: shared, two: shared }, large: 2 ** 60, tagged: true },
       dollar: { $: ['Date', 5], a: 1 },
       both: { $: 'text', when: new Date(7), status: 'my own' },
       plain: { tagged: true, inner: { a: 1 } },
     }
     for (const [id, state] of Object.entries(states)) {
       const session = await store.session(id, { project })
       await session.save({ state })
     }
     await (await store.session('map', { project })).save({ state: new Map([['a', 1]]) })`,
  )
  for (const id of ['kinds', 'dollar', 'both', 'plain']) {
    const { stdout, stderr } = s.run(['export', '--session', id, '--format', 'yaml'])
    expect(stderr).toBe('')
    expect([id, stdout.startsWith('# tagged: true\n')]).toEqual([id, id !== 'plain'])
    writeFileSync(join(s.project, `${id}.yaml`), stdout)
    s.json(['import', 'yaml', `${id}.yaml`, '--session', `${id} again`])
  }
  await runAgent(
    s,
    `const { deepStrictEqual } = await import('node:assert')
     for (const id of ['kinds', 'dollar', 'both', 'plain']) {
       const before = await (await store.session(id)).stateAt()
       const { updated, ...after } = await (await store.session(id + ' again')).stateAt()
       deepStrictEqual(after, { status: 'in_progress', ...before })
       if (id === 'kinds' && after.pair.one !== after.pair.two) throw new Error('not shared')
     }`,
  )
  // Without the line it is a file of another program, and is read as plain data.
  writeFileSync(join(s.project, 'other.yaml'), 'when:\n  $: [Date, 5]\n$: 1\n')
  s.json(['import', 'yaml', 'other.yaml', '--session', 'other'])
  await runAgent(
    s,
    `const { deepStrictEqual } = await import('node:assert')
     const state = await (await store.session('other')).stateAt()
     deepStrictEqual(state, { when: { $: ['Date', 5] }, $: 1 })`,
  )
  expect(errorOf(s, 'export', '--session', 'map', '--format', 'yaml')).toContain('is not a mapping')
})

test('a state that is nested too deeply for a text is refused, and stays unchanged', async () => {
  using s = scratch()
  await runAgent(
    s,
    `for (const depth of [300, 100_000]) {
       let value = { end: true }
       for (let at = 0; at < depth; at += 1) value = [value]
       const session = await store.session('deep ' + depth, { project })
       await session.save({ state: { value } })
     }`,
  )
  expect(errorOf(s, 'export', '--session', 'deep 300', '--format', 'yaml')).toBe(
    'Error: The state is nested deeper than 200 levels, so it cannot be written as YAML.\nUse --format json.\n',
  )
  const [exported] = exportOf(s, '--session', 'deep 300') as [{ data: { value: unknown[] } }]
  expect(exported.data.value.flat(Infinity)).toEqual([{ end: true }])
  for (const command of [
    ['export', '--session', 'deep 100000'],
    ['resume', 'deep 100000', '--json'],
  ]) {
    const { code, stdout, stderr } = s.run(command)
    expect({ code, text: stdout + stderr }).toEqual({
      code: 2,
      text: expect.stringContaining('This state is nested too deeply to be printed'),
    })
  }
  expect(s.run(['resume', 'deep 100000'])).toMatchObject({ code: 0, stderr: '' })
  expect(s.json(['verify'])).toMatchObject({ problems: [] })
})

test("a YAML file from Python is read with Python's meaning", () => {
  using s = scratch({
    'task.yaml':
      "task_id: fix\nstatus: completed\nupdated: '2026-11-15T12:00:00.123456'\nprogress:\n- done: yes\n- &a [1, 2]\n- *a\nbig: 12345678901234567890\n",
  })
  const run = s.run(['import', 'yaml', 'task.yaml', '--session', 'task'], {
    env: { TZ: 'America/New_York' },
  })
  expect(run.stdout).toBe('Imported 1 checkpoint into task.\n')
  expect(s.json(['list', '--session', 'task'])).toMatchObject({
    checkpoints: [{ createdAt: '2026-11-15T17:00:00.123Z', kind: 'imported' }],
  })
  expect(stateOf(s, 'task')).toMatchObject({
    task_id: 'fix',
    status: 'completed',
    big: { $: ['BigInt', '12345678901234567890'] },
  })
})

test('an invalid import is refused, and leaves no session behind', () => {
  using s = scratch({
    'bad.json': '[1, 2',
    'object.json': '{"checkpoints": []}',
    'items.json': '[{"name": "x"}]',
    'none.json': '[]',
    'time.json': '[{"id": "a", "timestamp": "soon"}]',
    'tags.json':
      '[{"id": "a", "timestamp": "2026-11-15", "tagged": true, "data": {"$": ["Nope"]}}]',
    'bad.yaml': 'a: 1\nb: c: d\n',
    'list.yaml': '- a\n- b\n',
    'bomb.yaml': `a: &a [x, x]\n${'bcdefghijk'.replace(/./g, (c) => `${c}: &${c} [${`*${String.fromCharCode(c.charCodeAt(0) - 1)}, `.repeat(9)}]\n`)}`,
    'alias.yaml': 'a: *nothing\n',
  })
  const refused = (...args: string[]) => errorOf(s, 'import', ...args, '--session', 'new')
  expect(refused('json', 'bad.json')).toContain('"bad.json" ends too early: line 1, column 6.')
  expect(refused('json', 'object.json')).toContain(
    '"object.json" does not contain a list of checkpoints.',
  )
  expect(refused('json', 'items.json')).toContain('checkpoints.0.id')
  expect(refused('json', 'time.json')).toContain('"soon" is not a time')
  expect(refused('json', 'tags.json')).toMatch(
    /^Error: "tags\.json" contains a state that cannot be read\.\n.*unknown kind "Nope"\. The file was edited, /,
  )
  expect(refused('json', 'missing.json')).toContain('there is no such file')
  expect(s.json(['import', 'json', 'none.json', '--session', 'new'])).toEqual({
    imported: 0,
    known: 0,
  })
  expect(refused('yaml', 'bad.yaml')).toContain('"bad.yaml" is not YAML: line 2, column 4.')
  expect(refused('yaml', 'list.yaml')).toContain('"list.yaml" does not contain a mapping.')
  expect(refused('yaml', 'bomb.yaml')).toContain('alias')
  expect(refused('yaml', 'alias.yaml')).toContain('alias.yaml')
  expect(refused('toml', 'x')).toContain(
    'Error: "toml" is not one of json, yaml, hermes, ares, breakpilot.\nUsage: ',
  )
  expect(refused('json')).toContain('Error: PATH is missing.')
  expect(errorOf(s, 'import', 'json', 'items.json')).toContain('Error: --session ID is missing.')
  expect(s.json(['sessions'])).toEqual({ sessions: [] })
})
