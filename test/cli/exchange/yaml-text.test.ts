// YAML that we write is read back unchanged, by us and by other readers.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { parse } from 'yaml'
import { jsonForm, valueOf } from '../../../src/cli/runtime/opaque-classes.js'
import { parseExactJson, SavestateError } from '../../../src/model/index.js'
import { formatYaml, MAX_YAML_DEPTH, parseYaml } from '../../../src/yaml/index.js'

/** Text that means something else to some reader unless it is quoted. */
const WORDS =
  'yes no on y n ~ null << = .inf .nan True 2026-11-15 12:30:45 0o17 017 0x1f 0b11 1_000 1e3 +1 0. ' +
  '1.5e+10 !x &a *a # %YAML --- ... | > " \' ` @ __proto__ constructor $'
const TRICKY = WORDS.split(' ').concat(
  ['', ' x ', '- a', 'a: b', 'a #b', '? x', '2026-11-15 10:00:00', 'x\n\n', 'multi\n  line\n'],
  ['\u0085', '\u2028', '\ufeff', '\u0007', '\t', 'a\tb', '\r\n', '\r', '\u001b[31m', '\u202e'],
)
const strings = fc.oneof(fc.constantFrom(...TRICKY), fc.string(), fc.string({ unit: 'binary' }))
const { states } = fc.letrec((tie) => ({
  states: fc.oneof(
    { maxDepth: 4 },
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.constantFrom(1e-7, -5e-324, 1e21, 1.5e300, 0.25),
    strings,
    fc.array(tie('states'), { maxLength: 4 }),
    fc.dictionary(strings, tie('states'), { maxKeys: 4 }),
  ),
}))

test('a state is read as it was written, by readers of 1.1 and of 1.2', () => {
  fc.assert(
    fc.property(states, (state) => {
      const plain: unknown = JSON.parse(JSON.stringify({ state }))
      const text = formatYaml(plain)
      expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u202e]/)
      expect(parseYaml({ text, source: 'it' })).toEqual(plain)
      expect(parse(text)).toEqual(plain)
    }),
    { numRuns: tries(1000) },
  )
})

test('numbers and BigInts come back as what they were, in YAML and in JSON', () => {
  const powers = Array.from({ length: 12 }, (_, at) => 2 ** (52 + at))
  const unsafe = powers.flatMap((power) => [power, -power, power - 1, power + 2])
  const values = fc.oneof(
    fc.double(),
    fc.maxSafeInteger(),
    fc.bigInt(),
    fc.constantFrom(-0, Number.NaN, Infinity, -Infinity, 1763200000000000000, ...unsafe),
    fc.constantFrom(...unsafe.map(BigInt), 1763200000000000000n),
  )
  fc.assert(
    fc.property(fc.array(values, { maxLength: 5 }), (state) => {
      const { json, isPlain } = jsonForm({ state })
      const read = (found: unknown) => (isPlain ? found : valueOf(found))
      const text = formatYaml(json)
      expect(read(parseYaml({ text, source: 'it' }))).toStrictEqual({ state })
      expect(read(parseExactJson(JSON.stringify(json)))).toStrictEqual({ state })
    }),
    { numRuns: tries(500) },
  )
  // A point makes it a float to readers of 1.1 and of 1.2; an integer of another program stays a BigInt.
  expect(formatYaml({ nanos: 1763200000000000000 })).toBe('nanos: 1763200000000000000.0\n')
})

test('numbers with an exponent have a point, which Python needs', () => {
  expect(formatYaml({ rate: 1e-7, large: -2e21, usual: 1.5e-7 })).toBe(
    'rate: 1.0e-7\nlarge: -2.0e+21\nusual: 1.5e-7\n',
  )
})

test("YAML from Python is read with Python's types", () => {
  const text = 'done: yes\nsince: 2026-11-15 10:00:00Z\nbig: 12345678901234567890\nsmall: 0o7\n'
  expect(parseYaml({ text, source: 'it' })).toEqual({
    done: true,
    since: new Date('2026-11-15T10:00:00Z'),
    big: 12345678901234567890n,
    small: '0o7',
  })
  const texts =
    'hash: 12e4567\nalso: 1e3\nletters: [y, N, Y, .]\nnumbers: [1.5e+3, .5e-1, on, Off]\n'
  expect(parseYaml({ text: texts, source: 'it' })).toEqual({
    hash: '12e4567',
    also: '1e3',
    letters: ['y', 'N', 'Y', '.'],
    numbers: [1500, 0.05, true, false],
  })
})

/** Nested lists and mappings. */
const DEEP: Readonly<Record<string, (depth: number) => string>> = {
  'lists in brackets': (depth) => `a: ${'['.repeat(depth - 1)}1${']'.repeat(depth - 1)}\n`,
  'mappings in braces': (depth) => `a: ${'{a: '.repeat(depth - 1)}1${'}'.repeat(depth - 1)}\n`,
  'lists on one line': (depth) => `a:\n  ${'- '.repeat(depth - 1)}1\n`,
  'keys below keys': (depth) =>
    `${Array.from({ length: depth }, (_, at) => `${' '.repeat(at)}a:`).join('\n')} 1\n`,
}

test.each(Object.entries(DEEP))('%s are read until they are too deep', (_kind, text) => {
  const most = parseYaml({ text: text(MAX_YAML_DEPTH), source: 'it' })
  expect(depthOf(most)).toBe(MAX_YAML_DEPTH)
  // Written as it was read. One level deeper is refused both ways, by count, long before the stack overflows.
  expect(parseYaml({ text: formatYaml(most), source: 'it' })).toEqual(most)
  expect(refusalOf(() => formatYaml({ a: most }))).toMatchObject({
    code: 'BAD_INPUT',
    hint: 'Use --format json.',
  })
  for (const depth of [MAX_YAML_DEPTH + 1, 5000]) {
    expect(refusalOf(() => parseYaml({ text: text(depth), source: 'it' }))).toMatchObject({
      code: 'BAD_INPUT',
      message: 'it is nested deeper than 200 levels',
    })
  }
})

test('a key that is not text is refused, whatever its size', () => {
  const text = `ok: 1\nitems:\n${`  - ${'? '.repeat(150)}x\n`.repeat(500)}`
  expect(refusalOf(() => parseYaml({ text, source: 'it' }))).toMatchObject({
    code: 'BAD_INPUT',
    message: 'it has a list or mapping as a key: line 3, column 7',
  })
})

test('ten times as many keys take about ten times as long, not a hundred times', () => {
  const parseMs = (count: number) => {
    const text = Array.from({ length: count }, (_, i) => `key${i}: value\n`).join('')
    // Processor time: other processes do not count.
    const before = process.cpuUsage()
    expect(Object.keys(Object(parseYaml({ text, source: 'it' })))).toHaveLength(count)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  // The first one also compiles the library.
  parseMs(1000)
  const few = parseMs(10_000)
  expect(parseMs(100_000) / few).toBeLessThan(40)
})

test.each([
  ['a: 1\nb: {c: 1, c: 2}\n', 'it has the same key twice in one mapping: line 2, column 11'],
  ['a: 1\n"a": 2\n', 'it has the same key twice in one mapping: line 2, column 1'],
  ['a: !!omap [b: 1]\n', 'it has an unknown tag: line 1, column 4'],
  [`a: &a 1\nb:\n${'- *a\n'.repeat(5001)}`, 'it has more than 5000 aliases: line 5003, column 3'],
])('%.30s is refused', (text, message) => {
  expect(refusalOf(() => parseYaml({ text, source: 'it' }))).toMatchObject({
    code: 'BAD_INPUT',
    message,
  })
})

test('keys of different types, or in different mappings, are not duplicates', () => {
  const text = 'a: {x: 1}\nb: &b {x: 1}\n1: one\n"1": text\nc:\n  <<: *b\n  y: 2\n'
  const read = parseYaml({ text, source: 'it' })
  expect(read).toMatchObject({ a: { x: 1 }, b: { x: 1 }, c: { x: 1, y: 2 } })
})

function depthOf(value: unknown): number {
  let depth = 0
  for (let at = value; typeof at === 'object' && at !== null; depth += 1) at = Object.values(at)[0]
  return depth
}

function refusalOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    if (error instanceof SavestateError) return error
    throw error
  }
}
