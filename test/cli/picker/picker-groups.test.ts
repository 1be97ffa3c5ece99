// Prompts, their steps, and whether Enter goes to before or after a tool call.
import { expect, test } from 'vitest'
import { pickerLines } from '../../../src/cli/picker/picker-lines.js'
import {
  numbersOf,
  plain,
  planOf,
  pressed,
  previewOf,
  SIZE,
  withPrompts,
} from './picker-samples.js'
import { highlighted, openPicker, resize, targetOf } from '../../../src/cli/picker/picker-state.js'

test('steps beyond a few are folded under their prompt, and opened and closed', () => {
  const picker = openPicker(withPrompts(), { size: SIZE, usual: 'files' })
  expect(numbersOf(picker)).toEqual([7, '3 more', 3, 2, 1, 10, 9, 8, 11])
  expect(pickerLines(picker, { preview: undefined, paint: plain }).slice(1, 5)).toEqual([
    '>  7  ● You: Tidy up',
    '          … 3 more (→ to open)',
    '   3      Bash: call 3',
    '   2      Bash: call 2',
  ])
  for (const keys of [['right'], ['down', 'return'], ['down', 'right'], ['down', 'down', 'l']])
    expect(numbersOf(pressed(picker, ...keys))).toEqual([7, 6, 5, 4, 3, 2, 1, 10, 9, 8, 11])
  expect(highlighted(pressed(picker, 'down', 'return'))?.number).toBe(6)
  expect(highlighted(pressed(picker, 'down', 'return', 'left'))?.number).toBe(7)
  expect(numbersOf(pressed(picker, 'right', 'left'))).toEqual(numbersOf(picker))
  // A group that has nothing to fold stays as it is.
  expect(numbersOf(pressed(picker, 'end', 'up', 'left'))).toEqual(numbersOf(picker))
})

test('a search includes folded steps, and shows each match with its prompt', () => {
  const picker = openPicker(withPrompts(), { size: SIZE, usual: 'files' })
  const found = pressed(picker, '/', ...Array.from('call 5'))
  expect(numbersOf(found)).toEqual([7, 5])
  expect(found).toMatchObject({ found: 1, total: 11 })
  expect(highlighted(found)?.number).toBe(5)
  expect(highlighted(pressed(picker, '/', ...Array.from('tests')))?.number).toBe(10)
})

test('for the row of a tool call the picker asks: before this call first, or after it', () => {
  const picker = openPicker(withPrompts(), { size: SIZE, usual: 'files' })
  const found = pressed(picker, '/', ...Array.from('call 5'), 'return')
  expect(targetOf(found)).toMatchObject({ id: 'id-6', moment: 'before' })
  const asked = pressed(found, 'return')
  expect(asked).toMatchObject({
    choice: undefined,
    question: { restore: 'files', answer: 'before' },
  })
  const lines = pickerLines(asked, {
    preview: previewOf(planOf({ write: ['a.txt'] })),
    paint: plain,
  })
  expect([lines[0], ...lines.slice(5)]).toEqual([
    'Go back to before or after this call?',
    '   > before this call',
    '     after this call',
    '     cancel',
    '-- Before this call: 1 file written',
    '   ~ a.txt',
    '',
    'Enter: before this call  a: after this call  Esc: cancel',
  ])
  const id = 'id-5'
  expect(pressed(asked, 'return').choice).toEqual({ id, restore: 'files', before: true })
  expect(pressed(asked, 'u').choice).toEqual({ id, restore: 'files', before: true })
  expect(pressed(asked, 'a').choice).toEqual({ id, restore: 'files', before: false })
  expect(targetOf(pressed(asked, 'down'))).toMatchObject({ id, moment: 'after' })
  expect(pressed(asked, 'down', 'return').choice).toEqual({ id, restore: 'files', before: false })
  for (const keys of [['escape'], ['q'], ['up', 'return'], ['down', 'down', 'return']])
    expect(pressed(asked, ...keys)).toMatchObject({ choice: undefined, question: undefined })
  expect(pressed(found, 'b', 'return').choice).toEqual({ id, restore: 'both', before: true })
})

test('u goes to just before the call, and Enter on a prompt to before the prompt', () => {
  const picker = openPicker(withPrompts(), { size: SIZE, usual: 'files' })
  const files = { restore: 'files' }
  expect(pressed(picker, 'down', 'down', 'u').choice).toEqual({
    ...files,
    id: 'id-3',
    before: true,
  })
  for (const key of ['u', 'return'])
    expect(pressed(picker, key).choice).toEqual({ ...files, id: 'id-7', before: false })
  expect(pressed(picker, 'end', 'u')).toMatchObject({
    choice: undefined,
    remark: 'This checkpoint is not a tool call: press Enter to go to it.',
  })
  const keysAt = (columns: number, ...names: string[]) =>
    pickerLines(resize(pressed(picker, ...names), { rows: 12, columns }), {
      preview: undefined,
      paint: plain,
    }).at(-1)
  const keys = (...names: string[]) => keysAt(80, ...names)
  const rest = 'c: conversation  b: both'
  expect(keys()).toBe(`Enter: files  ${rest}  →: steps  /: search  q: quit`)
  expect(keys('down')).toBe('Enter or →: open  /: search  q: quit')
  expect(keys('down', 'down')).toBe(
    `Enter: before or after  u: before  ${rest}  /: search  q: quit`,
  )
  // On a narrow screen every key is still named.
  expect(keysAt(50)).toBe(`Enter: files  ${rest}  →  /  q`)
  expect(keysAt(50, 'down', 'down')).toBe('Enter: before or after  u: before  c  b  /  q')
  expect(keysAt(20)).toBe('Enter: files  c  q')
  expect(keys('/')).toBe('Type to search  Enter: apply filter  Esc: clear')
})
