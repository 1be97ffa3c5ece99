import { expect, test } from 'vitest'
import { parseCommit } from '../../../src/snapshot/import/source-history.js'

function subjectOf(message: string): string {
  const head = `tree ${'a'.repeat(40)}\nauthor a <a@b> 1700000000 +0000`
  return parseCommit(Buffer.from(`${head}\n\n${message}`)).subject
}

test('the subject of a commit is its first paragraph on one line', () => {
  expect(subjectOf('\n \n  one  \n\t two\r\nthree\0\n \t\nbody\n')).toBe('one two three')
  expect(subjectOf('one\n\0\ntwo')).toBe('one two')
  expect(subjectOf(' \n\n')).toBe('')
})

test('a message of almost nothing but blanks takes no time', () => {
  // A search that restarts at each blank would run for an hour.
  const blanks = ' '.repeat(1_000_000)
  expect(subjectOf(`a${blanks}b\n${blanks}c${blanks}`)).toBe(`a${blanks}b c`)
  expect(subjectOf(`a${'\n '.repeat(500_000)}b`)).toBe('a')
})
