import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { widthOf } from '../../../src/cli/terminal/text-width.js'
import { pick } from '../../../src/cli/picker/pick.js'
import { pickerLines } from '../../../src/cli/picker/picker-lines.js'
import {
  groupsOf,
  numbersOf,
  plain,
  planOf,
  pressed,
  previewOf,
  SIZE,
  withPrompts,
} from './picker-samples.js'
import {
  highlighted,
  listHeight,
  openPicker,
  resize,
} from '../../../src/cli/picker/picker-state.js'
import type { Preview } from '../../../src/cli/picker/picker-lines.js'

test('the newest is highlighted first, and the keys move', () => {
  const picker = openPicker(groupsOf(20), { size: SIZE, usual: 'files' })
  const after = (...names: string[]) => highlighted(pressed(picker, ...names))?.number
  expect(after()).toBe(1)
  expect(after('up')).toBe(1)
  expect(after('down', 'down')).toBe(3)
  expect(after('j', 'j', 'k')).toBe(2)
  expect(after('pagedown')).toBe(1 + listHeight(SIZE))
  expect(after('end')).toBe(20)
  expect(after('end', 'down')).toBe(20)
  expect(after('end', 'pageup', 'home')).toBe(1)
})

test('Enter restores the default part, letters the others, and missing parts are refused', () => {
  const picker = openPicker(groupsOf(3), { size: SIZE, usual: 'files' })
  expect(pressed(picker, 'return').choice).toEqual({ id: 'id-1', restore: 'files', before: false })
  expect(pressed(picker, 'c')).toMatchObject({
    choice: undefined,
    remark: 'It has no conversation.',
  })
  expect(pressed(picker, 'down', 'c').choice).toEqual({
    id: 'id-2',
    restore: 'state',
    before: false,
  })
  expect(pressed(picker, 'down', 'b').choice).toEqual({
    id: 'id-2',
    restore: 'both',
    before: false,
  })
  expect(pressed(picker, 'end', 'return')).toMatchObject({ remark: 'It has no files.' })
  expect(pressed(picker, 'q').choice).toBe(null)
  expect(pressed(picker, 'escape').choice).toBe(null)
  const both = openPicker(groupsOf(3), { size: SIZE, usual: 'both' })
  expect(pressed(both, 'down', 'return').choice).toEqual({
    id: 'id-2',
    restore: 'both',
    before: false,
  })
})

test('a search is typed, kept with Enter, cleared with Esc, and its letters are not commands', () => {
  const picker = openPicker(groupsOf(12), { size: SIZE, usual: 'files' })
  const found = pressed(picker, '/', ...Array.from('CALL 1'))
  expect(found).toMatchObject({ query: 'CALL 1', isSearching: true, choice: undefined })
  expect(numbersOf(found)).toEqual([1, 10, 11, 12])
  expect(found).toMatchObject({ found: 4, total: 12 })
  expect(pressed(found, 'return', 'down', 'return').choice).toEqual({
    id: 'id-10',
    restore: 'files',
    before: false,
  })
  expect(pressed(found, 'escape')).toMatchObject({
    query: '',
    isSearching: false,
    choice: undefined,
  })
  expect(pressed(found, 'backspace', 'backspace').query).toBe('CALL')
  expect(pressed(picker, '/', 'q', 'q').items).toEqual([])
  expect(pressed(picker, '/', 'q', 'q', 'return', 'return').choice).toBe(undefined)
  expect(pressed(picker, '/', '\u001b', '\u009b').query).toBe('')
})

test('the rest of an arrow key that a slow line has split chooses nothing', async () => {
  const { keyboard, display, written } = terminal()
  const preview = async (): Promise<Preview> => ({ problem: 'Not now' })
  const picked = pick({
    groups: groupsOf(3),
    usual: 'files',
    keyboard,
    display,
    paint: plain,
    preview,
  })
  keyboard.write('/call 2')
  await shown(written, 'Search: call 2_')
  keyboard.write('\u001b')
  const drawn = () => written().split('\u001b[H').at(-1) ?? ''
  await shown(drawn, '> 2  call 2')
  await shown(drawn, 'Go back to which checkpoint? (3)')
  for (const rest of ['[B', '[C', '[F', 'q']) keyboard.write(rest)
  expect(await picked).toBe(null)
})

test('an arrow key in two pieces is an arrow key', async () => {
  const { keyboard, display, written } = terminal()
  const preview = async (): Promise<Preview> => ({ problem: 'Not now' })
  const picked = pick({
    groups: groupsOf(3),
    usual: 'files',
    keyboard,
    display,
    paint: plain,
    preview,
  })
  keyboard.write('\u001b')
  await setImmediate()
  keyboard.write('[B')
  await shown(written, '> 2  call 2')
  keyboard.write('b')
  expect(await picked).toEqual({ id: 'id-2', restore: 'both', before: false })
})

test('the lines show the list, the preview in path order, and the keys', () => {
  const picker = pressed(openPicker(groupsOf(20), { size: SIZE, usual: 'files' }), 'down')
  const plan = {
    ...planOf({ write: ['b\u001b[31m.txt', 'a.txt'], remove: ['new.txt', 'x', 'y', 'z'] }),
    keep: [{ path: 'mine.txt', reason: 'changed by you' }],
  }
  const made = { ...plan, write: [...plan.write, { path: 'c.txt', reason: 'file is missing' }] }
  const preview = { plan: made, mine: new Set(['a.txt']), isAllMine: false }
  expect(pickerLines(picker, { preview, paint: plain })).toEqual([
    'Go back to which checkpoint? (20)',
    '   1  call 1',
    '>  2  call 2',
    '   3  call 3',
    '   4  call 4',
    '-- At this checkpoint: 3 files written, 4 removed, 1 kept',
    '   ~ a.txt  (yours)',
    '   ~ "b\\033[31m.txt"',
    '   + c.txt',
    '   - new.txt',
    '   … and 4 more',
    'Enter: files  c: conversation  b: both  /: search  q: quit',
  ])
  expect(pickerLines(picker, { preview: undefined, paint: plain })[5]).toBe(
    '-- At this checkpoint: comparing the folder…',
  )
  const all = { ...preview, mine: new Set<string>(), isAllMine: true }
  expect(pickerLines(picker, { preview: all, paint: plain })[5]).toBe(
    '-- At this checkpoint: 3 files written, 4 removed, 1 kept,…',
  )
})

test('a folder that is written with its files is not listed and not counted', () => {
  const picker = openPicker(groupsOf(1), { size: SIZE, usual: 'files' })
  const plan = planOf({ write: ['src', 'src/a.ts'], remove: ['old/b.ts', 'old'] })
  const lines = pickerLines(picker, { preview: previewOf(plan), paint: plain })
  expect(lines.slice(5, 8)).toEqual([
    '-- At this checkpoint: 1 file written, 1 removed',
    '   - old/b.ts',
    '   ~ src/a.ts',
  ])
})

test('for any keys and any size, the lines fit and include the highlighted row', () => {
  const moves = ['up', 'down', 'pageup', 'pagedown', 'home', 'end', 'left', 'right'] as const
  const key = fc.constantFrom(...moves, '/', '1', 'escape', 'return')
  const sizes = fc.record({ rows: fc.integer({ min: 1, max: 40 }), columns: fc.nat(120) })
  const property = fc.property(
    fc.array(fc.oneof(key, sizes), { maxLength: 30 }),
    fc.nat(30),
    (steps, count) => {
      let picker = openPicker([...groupsOf(count), ...withPrompts()], {
        size: SIZE,
        usual: 'files',
      })
      for (const step of steps) {
        picker = typeof step === 'string' ? pressed(picker, step) : resize(picker, step)
        const preview = previewOf(planOf({ write: ['漢字漢字漢字', 'b'], remove: ['c', 'd'] }))
        const lines = pickerLines(picker, { preview, paint: plain })
        expect(lines.length).toBe(picker.size.rows)
        const room = Math.max(0, picker.size.columns - 1)
        expect(lines.filter((line) => widthOf(line) > room)).toEqual([])
        const { at, top, items } = picker
        expect(at >= top && at < top + listHeight(picker.size)).toBe(true)
        expect(items.length === 0 || items[at] !== undefined).toBe(true)
      }
    },
  )
  fc.assert(property, { numRuns: 200 })
})

test('on a terminal it uses the alternate screen, previews one row at a time, and restores the terminal', async () => {
  const { keyboard, display, written, modes } = terminal()
  const looked: string[] = []
  const picked = pick({
    groups: groupsOf(3),
    usual: 'files',
    keyboard,
    display,
    paint: plain,
    async preview(id): Promise<Preview> {
      looked.push(id)
      return previewOf(planOf({ write: [`${id}.txt`] }))
    },
  })
  await shown(written, 'id-1.txt')
  keyboard.write('\u001b[B')
  await shown(written, 'id-2.txt')
  Object.assign(display, { rows: 5 })
  display.emit('resize')
  keyboard.write('b')
  expect(await picked).toEqual({ id: 'id-2', restore: 'both', before: false })
  expect(looked).toEqual(['id-1', 'id-2'])
  expect(written()).toMatch(/^\u001b\[\?1049h\u001b\[\?25l[^]*\u001b\[\?25h\u001b\[\?1049l$/)
  expect(modes).toEqual([true, false])
  expect([keyboard.listenerCount('keypress'), display.listenerCount('resize')]).toEqual([0, 0])
})

test('Esc, as a terminal sends it, chooses nothing', async () => {
  const { keyboard, display, written } = terminal()
  const preview = async (): Promise<Preview> => ({ problem: 'Not now' })
  const picked = pick({
    groups: groupsOf(1),
    usual: 'files',
    keyboard,
    display,
    paint: plain,
    preview,
  })
  await shown(written, '-- At this checkpoint: Not now')
  keyboard.write('\u001b')
  expect(await picked).toBe(null)
})

test('a preview that throws ends the picker and restores the terminal', async () => {
  const { keyboard, display, written, modes } = terminal()
  const listeners = process.listenerCount('exit')
  const preview = () => Promise.reject(new Error('a bug'))
  const picked = pick({
    groups: groupsOf(1),
    usual: 'files',
    keyboard,
    display,
    paint: plain,
    preview,
  })
  await expect(picked).rejects.toThrow('a bug')
  expect(written()).toMatch(/\u001b\[\?1049l$/)
  expect(modes).toEqual([true, false])
  expect(process.listenerCount('exit')).toBe(listeners)
})

function terminal() {
  const modes: boolean[] = []
  const keyboard = Object.assign(new PassThrough(), {
    setRawMode: (isRaw: boolean) => void modes.push(isRaw),
  })
  let text = ''
  const display = Object.assign(new PassThrough(), { rows: 20, columns: 80 })
  display.on('data', (part) => (text += String(part)))
  return { keyboard, display, modes, written: () => text }
}

async function shown(written: () => string, text: string): Promise<void> {
  await expect.poll(written, { timeout: 60_000 }).toContain(text)
}
