// Copies of a file that grows, is torn, replaced and removed while it is read.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import {
  parsePosition,
  type Position,
  readGrowth,
} from '../../../src/agents/conversation/transcript.js'

const folder = mkdtempSync(join(tmpdir(), 'savestate-transcript-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'a.jsonl')

/** A copy as the hooks make it: new lines are appended, a restarted file replaces it. */
class Copy {
  lines: readonly string[] = []
  position: Position | undefined

  read(from = path): void {
    const growth = readGrowth(from, this.position)
    if (growth === undefined) return
    this.lines = growth.isFromStart ? growth.lines : [...this.lines, ...growth.lines]
    this.position = parsePosition(JSON.parse(JSON.stringify(growth.position)))
  }
}

test('only new lines are read, and an incomplete line is left for later', () => {
  writeFileSync(path, '{"a":1}\n{"b":')
  const copy = new Copy()
  copy.read()
  expect(copy.lines).toEqual(['{"a":1}'])
  const known = copy.position
  expect(readGrowth(path, known)).toEqual({ lines: [], position: known, isFromStart: false })
  appendFileSync(path, '2}\n{"ü":"€"}\n')
  expect(readGrowth(path, known)).toMatchObject({
    lines: ['{"b":2}', '{"ü":"€"}'],
    isFromStart: false,
  })
})

test('a path without a file, or a file without a complete line, returns nothing', () => {
  writeFileSync(path, '{"torn":')
  mkdirSync(join(folder, 'sub'))
  for (const place of [
    path,
    join(folder, 'none'),
    join(path, 'under'),
    folder,
    'a.jsonl',
    '/dev/zero',
  ])
    expect(readGrowth(place, undefined)).toBeUndefined()
})

test('a very large file is read in pieces of complete lines', () => {
  const line = 'x'.repeat(1024 * 1024)
  writeFileSync(path, `${line}\n`.repeat(20))
  const copy = new Copy()
  copy.read()
  expect(copy.lines.length).toBe(7)
  for (let reading = 0; reading < 2; reading += 1) copy.read()
  expect(copy.lines).toEqual(Array.from({ length: 20 }, () => line))
})

test('a line that is longer than one piece is read completely', () => {
  const long = 'y'.repeat(20 * 1024 * 1024)
  writeFileSync(path, `first\n${long}\nlast\n`)
  const copy = new Copy()
  for (const count of [1, 3]) {
    copy.read()
    expect(copy.lines.length).toBe(count)
  }
  expect(copy.lines[1] === long && copy.lines[2] === 'last').toBe(true)
  appendFileSync(path, long)
  copy.read()
  expect(copy.lines.length).toBe(3)
})

test('whatever happens to the file, the copy is always a prefix of one of its versions', () => {
  const piece = fc.string({ minLength: 1, maxLength: 40 }).map((text) => text.replaceAll('\n', ' '))
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), text: piece }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('end' as const), text: piece }) },
    fc.record({ kind: fc.constantFrom('replace', 'remove', 'shorten'), text: piece }),
  )
  const steps = fc.array(fc.tuple(step, fc.boolean()), { maxLength: 40 })
  fc.assert(
    fc.property(steps, (list) => {
      rmSync(path, { force: true })
      const copy = new Copy()
      let content: string | undefined
      let copied = ''
      for (const [{ kind, text }, isRead] of list) {
        if (kind === 'append') content = `${content ?? ''}${text}`
        if (kind === 'end') content = `${content ?? ''}${text}\n`
        if (kind === 'replace') content = `${text}\n`
        if (kind === 'shorten') content = content?.slice(0, content.length / 2)
        if (kind === 'remove') content = undefined
        if (content === undefined) rmSync(path, { force: true })
        else {
          writeFileSync(`${path}.new`, content)
          renameSync(`${path}.new`, path)
        }
        if (!isRead) continue
        copy.read()
        const whole = content?.slice(0, content.lastIndexOf('\n') + 1) ?? ''
        // The copy of a removed file stays.
        if (whole !== '') copied = Buffer.from(whole).toString('utf8')
        expect(copy.lines.map((line) => `${line}\n`).join('')).toBe(copied)
      }
      expect(
        content === undefined || readFileSync(path, 'utf8') === Buffer.from(content).toString(),
      ).toBe(true)
    }),
    { numRuns: 150 },
  )
})
