// `open`, `fork --into`, `compare` and `adopt` on the command line.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../program.js'

test('open writes beside the project, or into the named folder', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  const { id } = s.json(['save']) as { id: string }
  s.write({ 'a.txt': 'two\n' })
  const beside = `${s.project}-${id.slice(0, 8)}`
  expect(s.json(['open', '1'])).toEqual({ path: beside, checkpoint: id })
  expect(readFileSync(join(beside, 'a.txt'), 'utf8')).toBe('one\n')
  const into = join(s.folder, 'there')
  expect(s.run(['open', '1', '../there'])).toEqual({
    code: 0,
    stdout: `Wrote ${id.slice(0, 4)} to ${into}\nGo there with: cd ${into}\n`,
    stderr: '',
  })
  expect(s.run(['open', '1', '../there'])).toEqual({
    code: 2,
    stdout: '',
    stderr: `Error: "../there" is not empty.
Name a new or empty folder outside of the project. Nothing has been written.
`,
  })
})

test('two forks are compared, and one is adopted and undone', () => {
  using s = scratch({ 'a.txt': 'one\n' })
  s.json(['save', '-m', 'start'])
  const [a, b] = [join(s.folder, 'a'), join(s.folder, 'b')]
  expect(s.json(['fork', '1', '--into', '../a', '--as', 'try-a'])).toMatchObject({
    id: 'try-a',
    project: a,
    path: a,
  })
  expect(s.run(['fork', '1', '--into', b, '--as', 'try-b'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      `It works in ${b}: cd ${b}\nTake over its files here with: savestate adopt try-b\n`,
    ),
  })
  writeFileSync(join(b, 'a.txt'), 'one\ntwo\n')
  expect(s.run(['compare', 'try-a', 'try-b'])).toEqual({
    code: 0,
    stdout: `try-a  0 files  +0 −0  no tests seen  ${a}
try-b   1 file  +1 −0  no tests seen  ${b}
From the first to the second: 1 file +1 −0
  modified a.txt  +1 −0
`,
    stderr: '',
  })
  expect(s.run(['adopt', 'try-b'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Add --yes to do it, or --dry-run'),
  })
  expect(s.run(['adopt', 'try-b', '--yes'])).toEqual({
    code: 0,
    stdout: 'Took over the files of try-b: 1 file written. Undo with: savestate undo\n',
    stderr: '',
  })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
  expect(s.run(['undo', '--yes'])).toMatchObject({ code: 0 })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one\n')
  expect(s.run(['adopt', 'nobody', '-y'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('No checkpoint has the name "nobody"'),
  })
})

test('--deps needs --into, and takes three values', () => {
  using s = scratch({ a: '1' })
  s.json(['save'])
  expect(s.run(['fork', '1', '--deps', 'link'])).toMatchObject({ code: 2 })
  expect(s.run(['open', '1', '--deps', 'some'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--deps takes one of link, copy, none, not "some"'),
  })
  expect(existsSync(`${s.project}-x`)).toBe(false)
})
