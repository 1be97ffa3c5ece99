// Install and uninstall as functions of texts: for any configuration, other entries stay, and an undo restores the text.
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { parse as parseJsonc } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import {
  isMerged,
  type JsonTarget,
  mergeOurs,
  removeOurs,
} from '../../src/agents/install/edit/merge-json.js'
import { hookEntry, type Recipe, listTargets } from '../../src/agents/install/recipes.js'
import { undoEdits, recordUndo } from '../../src/agents/install/edit/text-edit.js'
import {
  addServer,
  addTrust,
  removeServer,
  removeTrust,
  serverLines,
} from '../../src/agents/install/edit/toml-edit.js'
import { addBlock, removeBlock } from '../../src/agents/install/edit/yaml-edit.js'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

function recipe(agent: Recipe['agent'], more: Partial<Recipe> = {}): Recipe {
  return {
    agent,
    scope: { type: 'user' },
    environment: { HOME: '/home/user' },
    command: { launcher: '/home/user/.savestate/bin/savestate-hook', strict: false },
    storeHome: '/home/user/.savestate',
    ...more,
  }
}

function jsonTarget(agent: Recipe['agent'], more: Partial<Recipe> = {}): JsonTarget {
  const [target] = listTargets(recipe(agent, more))
  if (target?.type !== 'json') throw new Error('no JSON')
  return target
}

const AGENTS = ['claude', 'codex', 'gemini', 'cursor', 'copilot'] as const

/** Hooks of other programs, and all other contents of a settings file. */
const configs = fc
  .record({
    before: fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), {
      maxKeys: 3,
    }),
    hooks: fc.option(
      fc.dictionary(
        fc.constantFrom('Stop', 'PreToolUse', 'BeforeTool', 'stop', 'Other'),
        fc.array(
          fc.constantFrom<Json>(
            { hooks: [{ type: 'command', command: 'say done' }] },
            { command: 'savestate list' },
            { matcher: 'Bash', hooks: [] },
          ),
          { maxLength: 2 },
        ),
        { maxKeys: 3 },
      ),
      { nil: undefined },
    ),
    deny: fc.option(
      fc.array(fc.constantFrom('Read(./secret)', 'Read(~/.savestate/**)'), { maxLength: 2 }),
      { nil: undefined },
    ),
  })
  .map(({ before, hooks, deny }) => ({
    ...before,
    ...(deny === undefined ? {} : { permissions: { deny } }),
    ...(hooks === undefined ? {} : { hooks }),
  }))

/** The ways in which people and programs format JSON. */
const layouts = fc.record({
  unit: fc.constantFrom('', '  ', '    ', '\t'),
  eol: fc.constantFrom('\n', '\r\n'),
  end: fc.constantFrom('', '\n', '\n\n'),
  mark: fc.constantFrom('', '\uFEFF'),
  comment: fc.constantFrom('', '// a note', '/* a\n note */'),
  hasTrailingCommas: fc.boolean(),
})

const texts = fc.tuple(configs, layouts).map(([config, layout]) => {
  const { unit, eol, end, mark, comment, hasTrailingCommas } = layout
  let text = JSON.stringify(config, null, unit)
  if (hasTrailingCommas) text = text.replaceAll(/([^\s{[,])(\s*\n\s*[}\]])/g, '$1,$2')
  // Only between lines, so that no string is split.
  if (comment !== '')
    text = text.replace('{\n', `{ ${comment}\n`).replace(/\n\}$/, `\n${comment}\n}`)
  return mark + (text + end).replaceAll('\n', eol)
})

const valueOf = (text: string): unknown =>
  parseJsonc(text.replace(/^\uFEFF/, ''), [], { allowTrailingComma: true })

/** The same on plain data. */
function withAdditions(config: unknown, { add, properties }: JsonTarget): unknown {
  const result = structuredClone(config) as Record<string, unknown>
  for (const { at, value } of properties) result[at[0] ?? ''] ??= value
  for (const { at, value } of add) {
    const keys = at.slice(0, -1)
    let parent = result
    for (const key of keys) parent = (parent[key] ??= {}) as Record<string, unknown>
    const list = (parent[at.at(-1) ?? ''] ??= []) as unknown[]
    if (!list.some((item) => isDeepStrictEqual(item, value))) list.push(value)
  }
  return result
}

test('for any configuration: other entries stay, ours are added once, and undo restores the bytes', () => {
  fc.assert(
    fc.property(texts, fc.constantFrom(...AGENTS), (text, agent) => {
      const target = jsonTarget(agent)
      const result = mergeOurs(text, target)
      expect(isMerged(result, target, [])).toBe(true)
      expect(mergeOurs(result, target)).toBe(result)
      expect(valueOf(result)).toEqual(withAdditions(valueOf(text), target))
      expect(undoEdits(result, recordUndo(text, result))).toBe(text)
    }),
    { numRuns: 150 },
  )
})

/** Lists of hooks and rules that become empty are removed, even if the user had written them. */
function withoutEmptyLists(config: unknown): unknown {
  const isEmpty = (value: unknown) => isDeepStrictEqual(value, []) || isDeepStrictEqual(value, {})
  const prune = (value: unknown) =>
    Object.fromEntries(Object.entries(value as object).filter(([, inner]) => !isEmpty(inner)))
  const { hooks = {}, permissions = {}, ...rest } = config as Record<string, unknown>
  return { ...rest, hooks: prune(hooks), permissions: prune(permissions) }
}

test('without a record, our entries are found by their form, and everything else keeps its meaning', () => {
  const plain = fc
    .tuple(configs, layouts)
    .filter(([config]) => !JSON.stringify(config).includes('~/.savestate'))
  fc.assert(
    fc.property(plain, fc.constantFrom(...AGENTS), ([config, { unit, eol }], agent) => {
      const target = jsonTarget(agent)
      const text = JSON.stringify(config, null, unit).replaceAll('\n', eol)
      const back = removeOurs(mergeOurs(text, target), target, [])
      const set = Object.fromEntries(target.properties.map(({ at, value }) => [at[0], value]))
      const expected = { ...set, ...(valueOf(text) as object) }
      expect(withoutEmptyLists(valueOf(back))).toEqual(withoutEmptyLists(expected))
    }),
    { numRuns: 80 },
  )
})

test('comments, order and indentation of other entries stay unchanged', () => {
  const text = '{\n\t"b": 1, // first\n\t/* second */ "a": [],\n}\n'
  const after = mergeOurs(text, {
    ...jsonTarget('claude'),
    add: [{ at: ['hooks', 'Stop'], value: 7 }],
  })
  expect(after).toBe(
    '{\n\t"b": 1, // first\n\t/* second */ "a": [],\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t7\n\t\t]\n\t},\n}\n',
  )
})

test('comments of the user keep a list that has only our entry', () => {
  const target = jsonTarget('claude')
  const command = 'savestate hook claude Stop'
  const group = JSON.stringify({ hooks: [{ type: 'command', command }] })
  const text = `{\n  "hooks": {\n    // mine\n    "Stop": [\n      // none yet\n      ${group}\n    ]\n  }\n}\n`
  expect(removeOurs(text, target, [])).toBe(
    '{\n  "hooks": {\n    // mine\n    "Stop": [\n      // none yet\n    ]\n  }\n}\n',
  )
  const list = `{\n  "hooks": {\n    // mine\n    "Stop": [${group}]\n  }\n}\n`
  expect(removeOurs(list, target, [])).toBe('{\n  "hooks": {\n    // mine\n  }\n}\n')
})

test.each([
  ['{', 'JSON'],
  ['[]', 'object'],
  ['{"hooks": []}', 'object'],
  ['{"hooks": {"Stop": {}}}', 'list'],
  ['{"hooks": {}, "hooks": {}}', 'twice'],
  ['{"a": 1} trailing', 'JSON'],
])('a configuration that cannot be merged into is refused: %s', (text, why) => {
  expect(() => mergeOurs(text, jsonTarget('claude'))).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(why) }),
  )
})

test.each([
  'savestate hook claude Stop',
  'savestate hook claude Stop --strict',
  "'/old/pla'\\''ce/bin.js' hook claude Stop",
  "test -x '/moved/savestate-hook' && exec '/moved/savestate-hook' hook claude Stop; command -v savestate >/dev/null && exec savestate hook claude Stop; exit 0",
  'command -v savestate >/dev/null && exec savestate hook claude Stop; exit 0',
])('an entry of an older form is replaced: %s', (command) => {
  const target = jsonTarget('claude')
  const old = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })
  const start = removeOurs(old, target, [])
  expect(valueOf(start)).toEqual({})
  expect(valueOf(mergeOurs(start, target))).toEqual(valueOf(mergeOurs('{}\n', target)))
})

test.each([
  'savestate list',
  'savestate hook codex Stop',
  'savestate hook claude Stop; rm -rf /',
  "/bin/sh -c 'savestate hook codex Stop'",
])('a command that is not ours stays: %s', (command) => {
  const text = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } })
  expect(removeOurs(text, jsonTarget('claude'), [])).toBe(text)
})

const SERVER = [
  '[mcp_servers.savestate]',
  'command = "savestate"',
  'args = ["mcp"]',
  'env = { SAVESTATE_HOME = "/s" }',
]

test.each(['', 'a = 1\n', 'a = 1\r\n', '[mcp_servers.x]\ncommand = "x"\n\n'])(
  'a server is added to the TOML of Codex and removed to the byte: %j',
  (text) => {
    const after = addServer(text, SERVER)
    const server = { command: 'savestate', args: ['mcp'], env: { SAVESTATE_HOME: '/s' } }
    expect(parseToml(after)).toMatchObject({ mcp_servers: { savestate: server } })
    expect(serverLines(after)).toEqual(SERVER)
    expect(addServer(after, SERVER)).toBe(after)
    expect(removeServer(after)).toBe(text)
  },
)

test('a server that an older version added is removed', () => {
  const mark = '# Written by `savestate install --mcp`, after a line without an end.'
  expect(removeServer(['a = 1', '', mark, ...SERVER, ''].join('\n'))).toBe('a = 1\n')
})

test('a server of that name that the user configured stays', () => {
  const theirs = '[mcp_servers.savestate]\ncommand = "savestate"\nargs = ["mcp"]\n'
  expect(addServer(theirs, SERVER)).toBe(theirs)
  expect(removeServer(theirs)).toBe(theirs)
  expect(serverLines(theirs)).toBeUndefined()
})

test('tool calls can use HTTP; the hooks that restart the daemon stay commands', () => {
  const daemon = { url: 'http://127.0.0.1:7', token: 'secret' }
  const one = recipe('claude', { daemon })
  expect(hookEntry(one, 'PreToolUse')).toEqual({
    hooks: [
      {
        type: 'http',
        url: 'http://127.0.0.1:7/v1/hook/claude/PreToolUse',
        headers: { Authorization: 'Bearer secret' },
        timeout: 30,
      },
    ],
  })
  for (const event of ['SessionStart', 'UserPromptSubmit', 'Stop'])
    expect(hookEntry(one, event)).toEqual(hookEntry(recipe('claude'), event))
  const target = jsonTarget('claude', { daemon })
  expect(isMerged(mergeOurs('{}', target), target, [])).toBe(true)
  const back = removeOurs(mergeOurs('{}', target), jsonTarget('claude'), [])
  expect(valueOf(back)).toEqual({})
})

const TOML = [
  '',
  'model = "x"',
  'model = "x"\r\n\r\n[projects."/a b"]\r\ntrust_level = "trusted"\r\n',
  '# a note\nnotify = ["a", "b"]\n[hooks.state."/other:stop:0:0"]\ntrusted_hash = "sha256:00"\n',
  'big = 9223372036854775807\ntext = """\n[hooks.state."x"]\n"""\n',
]

test.each(TOML)('trust is added to TOML and removed: %j', (text) => {
  const trusts = ['stop', 'pre_tool_use'].map((event, index) => ({
    key: `/home/u/"odd\\ name"/hooks.json:${event}:0:0`,
    hash: `sha256:${index}`,
  }))
  const added = trusts.reduce(addTrust, text)
  const { hooks } = parseToml(added, { integersAsBigInt: true }) as {
    hooks: { state: Record<string, unknown> }
  }
  expect(hooks.state).toMatchObject(
    Object.fromEntries(trusts.map(({ key, hash }) => [key, { trusted_hash: hash }])),
  )
  expect(trusts.reduce(addTrust, added)).toBe(added)
  expect(undoEdits(added, recordUndo(text, added))).toBe(text)
  const later = `${added}\n[later]\n`
  const taken = trusts.reduce(removeTrust, later)
  expect(parseToml(taken, { integersAsBigInt: true })).toEqual(
    parseToml(`${text}\n[later]\n`, { integersAsBigInt: true }),
  )
})

test('a changed hash is replaced, and TOML that cannot be extended is refused', () => {
  const key = '/h:stop:0:0'
  const old = addTrust('a = 1\n', { key, hash: 'sha256:old' })
  expect(addTrust(old, { key, hash: 'sha256:new' })).toBe(old.replace('sha256:old', 'sha256:new'))
  for (const text of ['a = ', 'hooks = 1\n', 'hooks = { state = {} }\n'])
    expect(() => addTrust(text, { key, hash: 'x' })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    )
})

test('a block is added to YAML and removed', () => {
  const lines = ['hooks:', '  one:', '    - command: "x"']
  for (const text of [
    '',
    'a: 1',
    'a: 1\n',
    '# only a note\n',
    'a:\r\n  - b\r\n',
    'a: |\n  text\n',
  ]) {
    const added = addBlock(text, 'hooks', lines)
    expect(parseYaml(added)).toEqual({
      ...parseYaml(text),
      hooks: { one: [{ command: 'x' }] },
    })
    expect(undoEdits(added, recordUndo(text, added))).toBe(text)
    expect(parseYaml(removeBlock(`${added}z: 2\n`))).toEqual({
      ...parseYaml(text),
      z: 2,
    })
  }
  for (const text of ['hooks:\n  a: []\n', '- a\n', '{a: 1}\n', 'a: [\n'])
    expect(() => addBlock(text, 'hooks', lines)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    )
})

test('a configuration that is nested too deeply for its parser is refused', () => {
  const deep = (open: string, close: string) => open.repeat(50_000) + close.repeat(50_000)
  const refusal = { code: 'CONFIG_INVALID', message: 'it is nested too deeply' }
  const lists = `{"x": ${deep('[', ']')}}`
  const objects = `{"x": ${deep('{"a":', '}')}}`
  for (const text of [lists, objects, `// "[" and "{"\n${lists}`]) {
    expect(() => mergeOurs(text, jsonTarget('claude'))).toThrow(expect.objectContaining(refusal))
  }
  const flat = `{"x": [${'[{}], "[[[", '.repeat(1000)}1]}`
  expect(isMerged(mergeOurs(flat, jsonTarget('claude')), jsonTarget('claude'), [])).toBe(true)
  expect(() => addBlock(`x: ${deep('[', ']')}\n`, 'hooks', ['hooks:'])).toThrow(
    expect.objectContaining({ ...refusal, message: 'it is nested deeper than 200 levels' }),
  )
  expect(() => addTrust(`x = ${deep('[', ']')}\n`, { key: 'k', hash: 'h' })).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID' }),
  )
})
