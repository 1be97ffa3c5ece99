import { expect, test } from 'vitest'
import { type IgnoreRule, parseIgnoreFile } from '../../../src/snapshot/ignore/ignore-file.js'

test('the marks of a pattern become flags', () => {
  expect(parseIgnoreFile('a\n!b\n/c\nd/\ne/f\n!/g/h/\n')).toEqual([
    rule('a'),
    rule('b', { isNegated: true }),
    rule('c', { isAnchored: true }),
    rule('d', { isFolderOnly: true }),
    rule('e/f', { isAnchored: true }),
    rule('g/h', { isNegated: true, isFolderOnly: true, isAnchored: true }),
  ])
})

test('comments and lines that match nothing give no rule', () => {
  expect(parseIgnoreFile('# a\n#\n\n   \n\r\n!\n/\n!/\n//\n')).toEqual([])
})

test('an escaped mark is part of the pattern', () => {
  expect(globs('\\#a\n\\!b\n #c\n!#d\n')).toEqual(['\\#a', '\\!b', ' #c', '#d'])
})

test('trailing spaces are removed, escaped spaces and tabs stay', () => {
  expect(globs('a  \nb\\ \nc\\   \nd\\\\ \ne\t\nf\\ g \n')).toEqual([
    'a',
    'b\\ ',
    'c\\ ',
    'd\\\\',
    'e\t',
    'f\\ g',
  ])
})

test('one CR before the end of a line or of the file is part of the line end', () => {
  expect(globs('a\r\nb \r\nc\r\r\nd\re\nf\r')).toEqual(['a', 'b', 'c\r', 'd\re', 'f'])
})

test('a byte order mark is skipped at the start of the file only', () => {
  const bom = '\xef\xbb\xbf'
  expect(globs(`${bom}a\n${bom}b\n`)).toEqual(['a', `${bom}b`])
  expect(globs(`${bom}#a\n`)).toEqual([])
})

test('a NUL ends its line', () => {
  expect(globs('a\0b\n/\0\nc/\0d\n')).toEqual(['a', 'c'])
})

function globs(text: string): string[] {
  return parseIgnoreFile(text).map(({ glob }) => glob)
}

function rule(glob: string, facts: Partial<IgnoreRule> = {}): IgnoreRule {
  return { glob, isNegated: false, isFolderOnly: false, isAnchored: false, ...facts }
}
