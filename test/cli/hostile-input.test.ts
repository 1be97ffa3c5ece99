// Hostile input: paths that leave the project, malicious YAML and JSON.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { snapshotOf } from '../support/scratch.js'
import { scratch } from './program.js'

const TEXTS = ['../../victim/x', 'line\nbreak\u001b[2J', 'x'.repeat(100_000)]
const PRECIOUS = { '../victim/precious': 'mine' }

/** Every command that takes an id, a name, a reference or a path. */
const COMMANDS: readonly ((text: string) => readonly string[])[] = [
  (text) => ['-C', text, 'save'],
  (text) => ['save', '-m', text, '--name', text],
  (text) => ['save', '--no-files', '--session', text, '--state', text],
  (text) => ['list', '--session', text],
  (text) => ['show', text],
  (text) => ['diff', text, text],
  (text) => ['diff', '1', '--', text],
  (text) => ['rewind', text, '--yes'],
  (text) => ['rewind', '1', '--yes', `--path=${text}`],
  (text) => ['resume', text],
  (text) => ['fork', text, '--session', text],
  (text) => ['pin', text],
  (text) => ['name', '1', text],
  (text) => ['export', '--session', text],
  (text) => ['import', 'json', text, '--session', text],
  (text) => ['import', 'hermes', text],
  (text) => ['forget', text, '--yes'],
  (text) => [text],
]

test('no text makes a command leave the project or crash', () => {
  using s = scratch({ 'a.txt': 'one\n', ...PRECIOUS })
  s.run(['save'])
  s.write({ 'a.txt': 'two\n' })
  const victim = snapshotOf(join(s.folder, 'victim'))
  for (const text of TEXTS) {
    for (const command of COMMANDS) {
      const args = command(text)
      const { code, stderr } = s.run(args)
      const start = args.map((arg) => arg.slice(0, 40))
      const isClear = (code === 0 || code === 2) && !stderr.includes('bug')
      expect({ start, code, stderr: isClear ? '' : stderr.slice(0, 2000) }).toEqual({
        start,
        code,
        stderr: '',
      })
    }
  }
  expect(snapshotOf(join(s.folder, 'victim'))).toEqual(victim)
  expect([...snapshotOf(s.project).keys()]).toEqual(['', 'a.txt'])
  expect(s.json(['verify'])).toMatchObject({ problems: [] })
})

const BILLION = Array.from({ length: 30 }, (_, i) =>
  i === 0 ? 'a0: &a0 [x, x]' : `a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`,
).join('\n')

/** Each must be read as plain data, or refused with 2. */
const YAML: Readonly<Record<string, string>> = {
  'aliases that multiply': `${BILLION}\n`,
  'an alias of itself': 'a: &a [*a]\n',
  'a tag of Python': 'a: !!python/object/apply:os.system ["touch /tmp/savestate-evil"]\n',
  'a tag of JavaScript': 'a: !!js/function "function () { process.exit(70) }"\n',
  'a key called __proto__': '__proto__: {polluted: true}\n',
  'a merge of __proto__': 'b: &b {__proto__: {polluted: true}}\na: {<<: *b}\n',
  'deep nesting': `a: ${'['.repeat(20_000)}\n`,
  'deep indentation': Array.from({ length: 1000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
  'keys in keys': `${'? '.repeat(2000)}x\n`,
  'a chain of aliases': Array.from({ length: 2000 }, (_, i) =>
    i === 0 ? 'a0: &a0 [x]' : `a${i}: &a${i} [*a${i - 1}]`,
  ).join('\n'),
  'twice the same key': 'a: 1\na: 2\n',
  'a number that is none': 'a: 1e400\n',
  'many documents': '--- 1\n--- 2\n',
  'control characters': 'a: "\\u001b[2J\\0"\n',
  'many megabytes': `a: "${'x'.repeat(2 << 20)}"\n`,
}
const JSON_TEXTS: Readonly<Record<string, string>> = {
  'deep nesting': '['.repeat(100_000),
  'deep and closed': `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
  'a key called __proto__':
    '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": 1}}}',
  'twice the same key': '{"a": 1, "a": 2}',
  'a number that is none': '{"a": 1e400, "b": -1e400, "c": 123456789012345678901234567890}',
  'lone surrogates': '{"a": "\\ud800", "\\udfff": 1}',
  'many megabytes': `{"a": "${'x'.repeat(2 << 20)}"}`,
  'many keys': `{${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
}

test('hostile YAML is read as data or refused', () => {
  using s = scratch(PRECIOUS)
  for (const [kind, text] of Object.entries(YAML)) {
    const { code, stderr } = s.run(['import', 'yaml', '-', '--session', kind], { input: text })
    const isClear = (code === 0 || code === 2) && !stderr.includes('bug') && stderr.length < 2000
    expect({ kind, isClear, shown: isClear ? '' : stderr.slice(0, 500) }).toEqual({
      kind,
      isClear: true,
      shown: '',
    })
  }
  expect(existsSync('/tmp/savestate-evil')).toBe(false)
  expect(s.json(['verify'])).toMatchObject({ problems: [] })
})

test('hostile JSON is kept unchanged or refused', () => {
  using s = scratch(PRECIOUS)
  for (const [kind, text] of Object.entries(JSON_TEXTS)) {
    const args = ['save', '--no-files', '--session', kind, '--state', '-']
    const { code, stderr } = s.run(args, { input: text })
    const isClear = (code === 0 || code === 2) && !stderr.includes('bug') && stderr.length < 2000
    expect({ kind, isClear, shown: isClear ? '' : stderr.slice(0, 500) }).toEqual({
      kind,
      isClear: true,
      shown: '',
    })
  }
  const { state } = s.json(['resume', 'a key called __proto__']) as { state: object }
  expect(Object.keys(state)).toEqual(['__proto__', 'constructor'])
  expect('polluted' in {}).toBe(false)
  expect(s.json(['verify'])).toMatchObject({ problems: [] })
})
