import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlanView } from '../../index.js'
import { paintFor } from '../paint.js'
import { widthOf } from '../text-width.js'
import { pick } from './pick.js'
import { type Preview, pickerLines } from './picker-lines.js'
import {
  highlighted,
  type Key,
  listHeight,
  openPicker,
  type Picker,
  type PickerRow,
  press,
  resized,
} from './picker-state.js'

const plain = paintFor(false)
const SIZE = { rows: 12, columns: 60 }

test('the newest is highlighted first, and the keys move', () => {
  const picker = openPicker(rowsOf(20), { size: SIZE, usual: 'files' })
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

test('Enter takes the usual, letters the rest, and what a checkpoint does not hold is not taken', () => {
  const picker = openPicker(rowsOf(3), { size: SIZE, usual: 'files' })
  expect(pressed(picker, 'return').choice).toEqual({ id: 'id-1', restore: 'files' })
  expect(pressed(picker, 'c')).toMatchObject({
    choice: undefined,
    remark: 'It holds no conversation.',
  })
  expect(pressed(picker, 'down', 'c').choice).toEqual({ id: 'id-2', restore: 'state' })
  expect(pressed(picker, 'down', 'b').choice).toEqual({ id: 'id-2', restore: 'both' })
  expect(pressed(picker, 'end', 'return')).toMatchObject({ remark: 'It holds no files.' })
  expect(pressed(picker, 'q').choice).toBe(null)
  expect(pressed(picker, 'escape').choice).toBe(null)
  const both = openPicker(rowsOf(3), { size: SIZE, usual: 'both' })
  expect(pressed(both, 'down', 'return').choice).toEqual({ id: 'id-2', restore: 'both' })
})

test('a search is typed, kept with Enter, left with Esc, and letters in it are no commands', () => {
  const picker = openPicker(rowsOf(12), { size: SIZE, usual: 'files' })
  const found = pressed(picker, '/', ...Array.from('CALL 1'))
  expect(found).toMatchObject({ query: 'CALL 1', isSearching: true, choice: undefined })
  expect(found.found.map(({ number }) => number)).toEqual([1, 10, 11, 12])
  expect(pressed(found, 'return', 'down', 'return').choice).toEqual({
    id: 'id-10',
    restore: 'files',
  })
  expect(pressed(found, 'escape')).toMatchObject({
    query: '',
    isSearching: false,
    choice: undefined,
  })
  expect(pressed(found, 'backspace', 'backspace').query).toBe('CALL')
  expect(pressed(picker, '/', 'q', 'q').found).toEqual([])
  expect(pressed(picker, '/', 'q', 'q', 'return', 'return').choice).toBe(undefined)
  expect(pressed(picker, '/', '\u001b', '\u009b').query).toBe('')
})

test('what is left of an arrow that a slow line has torn apart takes nothing', async () => {
  const { keyboard, display, written } = terminal()
  const look = async (): Promise<Preview> => ({ problem: 'Not now' })
  const picked = pick({ rows: rowsOf(3), usual: 'files', keyboard, display, paint: plain, look })
  keyboard.write('/call 2')
  await shown(written, 'Search: call 2_')
  keyboard.write('\u001b')
  const drawn = () => written().split('\u001b[H').at(-1) ?? ''
  await shown(drawn, '> 2  just now')
  await shown(drawn, 'Go back to which of 3?')
  for (const rest of ['[B', '[C', '[F', 'q']) keyboard.write(rest)
  expect(await picked).toBe(null)
})

test('an arrow in two pieces is an arrow', async () => {
  const { keyboard, display, written } = terminal()
  const look = async (): Promise<Preview> => ({ problem: 'Not now' })
  const picked = pick({ rows: rowsOf(3), usual: 'files', keyboard, display, paint: plain, look })
  keyboard.write('\u001b')
  await setImmediate()
  keyboard.write('[B')
  await shown(written, '> 2  just now')
  keyboard.write('b')
  expect(await picked).toEqual({ id: 'id-2', restore: 'both' })
})

test('the lines show the list, the preview and the keys', () => {
  const picker = pressed(openPicker(rowsOf(20), { size: SIZE, usual: 'files' }), 'down')
  const plan = planOf({ write: ['a.txt', 'b\u001b[31m.txt'], remove: ['new.txt', 'x', 'y', 'z'] })
  expect(pickerLines(picker, { preview: { plan }, paint: plain })).toEqual([
    'Go back to which of 20?',
    '  1  just now  You: call 1',
    '> 2  just now  You: call 2',
    '  3  just now  You: call 3',
    '  4  just now  You: call 4',
    '-- Would be: 2 files written, 4 removed',
    '   ~ a.txt',
    '   ~ "b\\033[31m.txt"',
    '   - new.txt',
    '   - x',
    '   … and 2 more',
    'Enter: files   c: conversation   b: both   /: search   q:…',
  ])
  expect(pickerLines(picker, { preview: undefined, paint: plain })[5]).toBe(
    '-- Looking at the folder…',
  )
})

test('whatever is pressed, on any size, the lines fit and the highlighted row is among them', () => {
  const key = fc.constantFrom('up', 'down', 'pageup', 'pagedown', 'home', 'end', '/', '1', 'escape')
  const sizes = fc.record({ rows: fc.integer({ min: 1, max: 40 }), columns: fc.nat(120) })
  const property = fc.property(
    fc.array(fc.oneof(key, sizes), { maxLength: 30 }),
    fc.nat(30),
    (steps, count) => {
      let picker = openPicker(rowsOf(count), { size: SIZE, usual: 'files' })
      for (const step of steps) {
        picker = typeof step === 'string' ? pressed(picker, step) : resized(picker, step)
        const preview = { plan: planOf({ write: ['漢字漢字漢字', 'b'], remove: ['c', 'd'] }) }
        const lines = pickerLines(picker, { preview, paint: plain })
        expect(lines.length).toBe(picker.size.rows)
        const room = Math.max(0, picker.size.columns - 1)
        expect(lines.filter((line) => widthOf(line) > room)).toEqual([])
        const { at, top, found } = picker
        expect(at >= top && at < top + listHeight(picker.size)).toBe(true)
        expect(found.length === 0 || highlighted(picker) !== undefined).toBe(true)
      }
    },
  )
  fc.assert(property, { numRuns: 200 })
})

test('on a terminal: drawn on its second screen, looked at one by one, and left as it was', async () => {
  const { keyboard, display, written, modes } = terminal()
  const looked: string[] = []
  const picked = pick({
    rows: rowsOf(3),
    usual: 'files',
    keyboard,
    display,
    paint: plain,
    async look({ id }): Promise<Preview> {
      looked.push(id)
      return { plan: planOf({ write: [`${id}.txt`] }) }
    },
  })
  await shown(written, 'id-1.txt')
  keyboard.write('\u001b[B')
  await shown(written, 'id-2.txt')
  Object.assign(display, { rows: 5 })
  display.emit('resize')
  keyboard.write('b')
  expect(await picked).toEqual({ id: 'id-2', restore: 'both' })
  expect(looked).toEqual(['id-1', 'id-2'])
  expect(written()).toMatch(/^\u001b\[\?1049h\u001b\[\?25l[^]*\u001b\[\?25h\u001b\[\?1049l$/)
  expect(modes).toEqual([true, false])
  expect([keyboard.listenerCount('keypress'), display.listenerCount('resize')]).toEqual([0, 0])
})

test('Esc, as a terminal sends it, takes nothing', async () => {
  const { keyboard, display, written } = terminal()
  const look = async (): Promise<Preview> => ({ problem: 'Not now' })
  const picked = pick({ rows: rowsOf(1), usual: 'files', keyboard, display, paint: plain, look })
  await shown(written, '-- Not now')
  keyboard.write('\u001b')
  expect(await picked).toBe(null)
})

test('a look that fails as none should ends it, and the terminal is as it was', async () => {
  const { keyboard, display, written, modes } = terminal()
  const listeners = process.listenerCount('exit')
  const look = () => Promise.reject(new Error('a bug'))
  const picked = pick({ rows: rowsOf(1), usual: 'files', keyboard, display, paint: plain, look })
  await expect(picked).rejects.toThrow('a bug')
  expect(written()).toMatch(/\u001b\[\?1049l$/)
  expect(modes).toEqual([true, false])
  expect(process.listenerCount('exit')).toBe(listeners)
})

/** The second holds files and a state, the third a state alone. */
function rowsOf(count: number): PickerRow[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `id-${index + 1}`,
    number: index + 1,
    time: 'just now',
    what: `You: call ${index + 1}`,
    hasFiles: index !== 2,
    hasState: index === 1 || index === 2,
  }))
}

function pressed(picker: Picker, ...names: readonly string[]): Picker {
  const keyOf = (name: string): Key =>
    name.length === 1 ? { name: name.toLowerCase(), sequence: name } : { name }
  return names.reduce((state, name) => press(state, keyOf(name)), picker)
}

function planOf({ write = [], remove = [] }: { write?: string[]; remove?: string[] }): PlanView {
  const items = (paths: readonly string[]) => paths.map((path) => ({ path }))
  return { write: items(write), remove: items(remove), keep: [], conflict: [] }
}

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
  await expect.poll(written, { timeout: 20_000 }).toContain(text)
}
