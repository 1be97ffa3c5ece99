// The picker of checkpoints, without a terminal: a key leads from one state to the next.

export type Restore = 'files' | 'state' | 'both'

export type PickerRow = {
  readonly id: string
  /** As `savestate list` counts. */
  readonly number: number
  readonly time: string
  /** Prompt, tool call or reason; safe to print. */
  readonly what: string
  readonly hasFiles: boolean
  readonly hasState: boolean
}

export type Size = { readonly rows: number; readonly columns: number }

export type Picker = {
  readonly all: readonly PickerRow[]
  /** Those that the search lets through. */
  readonly found: readonly PickerRow[]
  /** Which of them is highlighted. */
  readonly at: number
  /** The first that is on the screen. */
  readonly top: number
  readonly query: string
  readonly isSearching: boolean
  readonly size: Size
  /** What Enter means. */
  readonly usual: Restore
  /** Why the last key did nothing. */
  readonly remark: string
  /** Undefined while the person still looks; null if they want nothing. */
  readonly choice: { readonly id: string; readonly restore: Restore } | null | undefined
}

/** As Node's readline tells of keys. */
export type Key = {
  readonly name?: string | undefined
  readonly ctrl?: boolean | undefined
  readonly meta?: boolean | undefined
  readonly shift?: boolean | undefined
  readonly sequence?: string | undefined
}

export function openPicker(
  all: readonly PickerRow[],
  { size, usual }: Pick<Picker, 'size' | 'usual'>,
): Picker {
  const nothing = { query: '', isSearching: false, remark: '', choice: undefined }
  return { all, found: all, at: 0, top: 0, size, usual, ...nothing }
}

export function highlighted({ found, at }: Picker): PickerRow | undefined {
  return found[at]
}

/** How many rows of the screen show checkpoints; the rest is title, preview and keys. */
export function listHeight({ rows }: Size): number {
  return rows < 10 ? Math.max(1, rows - 2) : Math.floor((rows - 3) / 2)
}

export function resized(picker: Picker, size: Size): Picker {
  return inView({ ...picker, size })
}

export function press(picker: Picker, key: Key): Picker {
  const next = { ...picker, remark: '' }
  const moved = move(next, key)
  if (moved !== undefined) return moved
  if (picker.isSearching) return typed(next, key)
  // Node says of Esc that Meta was held, since that is how Meta is sent.
  const isHeld = key.ctrl === true || (key.meta === true && key.name !== 'escape')
  // On a slow line an arrow can come as Esc and, after the time that is given to it, `[B` or `[C`: no command.
  if (isHeld || key.shift === true) return next
  switch (key.name) {
    case 'return':
    case 'enter':
      return choose(next, picker.usual)
    case 'f':
      return choose(next, 'files')
    case 'c':
      return choose(next, 'state')
    case 'b':
      return choose(next, 'both')
    case 'q':
    case 'escape':
      return { ...next, choice: null }
  }
  return key.sequence === '/' ? { ...next, isSearching: true } : next
}

function move(picker: Picker, { name, ctrl, meta }: Key): Picker | undefined {
  const page = listHeight(picker.size)
  const isLetter = picker.isSearching || ctrl === true || meta === true
  if (name === 'up' || (ctrl === true && name === 'p')) return movedTo(picker, picker.at - 1)
  if (name === 'down' || (ctrl === true && name === 'n')) return movedTo(picker, picker.at + 1)
  if (name === 'pageup') return movedTo(picker, picker.at - page)
  if (name === 'pagedown') return movedTo(picker, picker.at + page)
  if (name === 'home') return movedTo(picker, 0)
  if (name === 'end') return movedTo(picker, picker.found.length - 1)
  if (!isLetter && name === 'k') return movedTo(picker, picker.at - 1)
  if (!isLetter && name === 'j') return movedTo(picker, picker.at + 1)
  return undefined
}

function movedTo(picker: Picker, at: number): Picker {
  return inView({ ...picker, at: Math.max(0, Math.min(at, picker.found.length - 1)) })
}

function inView(picker: Picker): Picker {
  const height = listHeight(picker.size)
  const last = Math.max(0, picker.found.length - height)
  const top = Math.max(picker.at - height + 1, Math.min(picker.top, picker.at))
  return { ...picker, top: Math.max(0, Math.min(top, last)) }
}

function typed(picker: Picker, { name, ctrl, meta, sequence = '' }: Key): Picker {
  if (name === 'escape') return searched({ ...picker, isSearching: false }, '')
  if (name === 'return' || name === 'enter') return { ...picker, isSearching: false }
  if (name === 'backspace') {
    if (picker.query === '') return { ...picker, isSearching: false }
    return searched(picker, Array.from(picker.query).slice(0, -1).join(''))
  }
  if (ctrl === true) return name === 'u' ? searched(picker, '') : picker
  const isText = meta !== true && sequence !== '' && !/[\p{Cc}\p{Cs}]/u.test(sequence)
  return isText ? searched(picker, picker.query + sequence) : picker
}

/** Every word of the query must be in the line. What was highlighted stays so, if it is still there. */
function searched(picker: Picker, query: string): Picker {
  const words = query.toLowerCase().split(' ')
  const found = picker.all.filter(({ what }) => {
    const line = what.toLowerCase()
    return words.every((word) => line.includes(word))
  })
  const before = highlighted(picker)
  const at = found.findIndex((row) => row === before)
  return inView({ ...picker, query, found, at: Math.max(0, at) })
}

function choose(picker: Picker, restore: Restore): Picker {
  const row = highlighted(picker)
  if (row === undefined) return picker
  if (restore !== 'state' && !row.hasFiles) return { ...picker, remark: 'It holds no files.' }
  if (restore !== 'files' && !row.hasState)
    return { ...picker, remark: 'It holds no conversation.' }
  return { ...picker, choice: { id: row.id, restore } }
}
