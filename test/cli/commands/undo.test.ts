// `savestate undo <ref>`: what it prints, and which arguments it takes.
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../program.js'

const lines = (changes: Readonly<Record<number, string>> = {}) =>
  ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight']
    .map((line, index) => `${changes[index + 1] ?? line}\n`)
    .join('')

/** Three checkpoints; the second changed line 2, the third line 7 and `b.txt`. */
function saved(s: Scratch): void {
  for (const [name, files] of [
    ['first', { 'a.txt': lines(), 'b.txt': 'one\n' }],
    ['second', { 'a.txt': lines({ 2: 'step' }), 'b.txt': 'two\n' }],
    ['third', { 'a.txt': lines({ 2: 'step', 7: 'later' }), 'b.txt': 'three\n' }],
  ] as const) {
    s.write(files)
    s.run(['save', '-m', name])
  }
}

const steady = (text: string) => text.replace(/\b[bcdfghjklmnpqrstvwxz]{4,18}\b/g, '<id>')

test('a conflict lists its files and the choices, and exits with 2', () => {
  using s = scratch()
  saved(s)
  const { code, stdout, stderr } = s.run(['undo', '2', '-y'])
  expect({ code, stdout, stderr: steady(stderr) }).toEqual({
    code: 2,
    stdout: '',
    stderr: [
      'Error: One path cannot be merged.',
      '  b.txt  (the same lines were changed since)',
      'Decide for all of them: --ours keeps them as they are, --theirs brings back the whole version from before the step, --conflict=markers marks the conflicts in text files. Nothing has been changed.',
      '',
    ].join('\n'),
  })
  const dry = s.run(['undo', '2', '--dry-run'])
  expect({ ...dry, stdout: steady(dry.stdout) }).toEqual({
    code: 0,
    stdout: [
      'Would undo the step <id> ("second"):',
      'Will be written (1 file):',
      '  ~ a.txt  (content differs)',
      'Conflicts, so nothing will be done (1):',
      '  b.txt  (the same lines were changed since)',
      'A dry run: nothing has been changed.',
      '',
    ].join('\n'),
    stderr: '',
  })
  expect(s.json(['undo', '2', '--dry-run'])).toMatchObject({
    applied: false,
    plan: { conflict: [{ path: 'b.txt', reason: 'the same lines were changed since' }] },
  })
})

test('--ours and --conflict=markers say what is left to do; undo and redo name the step', () => {
  using s = scratch()
  saved(s)
  const printed = (...args: string[]) => steady(s.run(args).stdout)
  expect(printed('undo', '2', '--ours', '-y')).toBe(
    'Undid the step <id> ("second"): 1 file written, 1 kept. Undo with: savestate undo\n' +
      'Stays as it is (1):\n  b.txt  (kept as it is: the same lines were changed since)\n',
  )
  expect(printed('undo', '-y')).toBe(
    'Undid the undo of the step <id> ("second"): 1 file written. Redo with: savestate redo\n',
  )
  expect(printed('undo', '4', '--conflict=markers', '-y')).toBe(
    'Undid the step <id> ("second"): 2 files written. Undo with: savestate undo\n' +
      'These files have conflict markers now. Edit them:\n  b.txt\n',
  )
})

test('a range, and the wrong arguments', () => {
  using s = scratch()
  saved(s)
  expect(steady(s.run(['undo', '3..', '-y']).stdout)).toBe(
    'Undid the steps <id>..<id>: 2 files written. Undo with: savestate undo\n',
  )
  const error = (...args: string[]) => s.run(args).stderr.split('\n')[0]
  expect(error('undo', '--ours')).toBe('Error: --ours needs a checkpoint.')
  expect(error('undo', '2', '--ours', '--theirs')).toBe(
    'Error: --ours and --theirs cannot be given together.',
  )
  expect(error('undo', '2', '--conflict', 'union')).toBe(
    'Error: --conflict takes one of refuse, markers, ours, theirs, not "union".',
  )
  expect(error('undo', '1')).toBe('Error: This needs a yes, and there is no terminal to ask on.')
})
