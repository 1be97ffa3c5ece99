// Lets the user pick a checkpoint on the alternate screen of a terminal, with a preview of the changes. Computes one preview at a
// time, for the highlighted row.
import { emitKeypressEvents } from 'node:readline'
import type { Paint } from '../terminal/colors.js'
import type { PickerGroup, PickerRow } from './picker-items.js'
import { pickerLines } from './picker-lines.js'
import {
  type Choice,
  type Key,
  openPicker,
  type Picker,
  press,
  resize,
  type Size,
  targetOf,
} from './picker-state.js'
import type { Preview } from './picker-lines.js'

const PREVIEW_DELAY_MS = 120
const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'

type Keyboard = NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown }
type Display = NodeJS.EventEmitter & {
  readonly rows?: number | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

type Picking = {
  readonly groups: readonly PickerGroup[]
  readonly usual: Picker['usual']
  readonly keyboard: Keyboard
  readonly display: Display
  readonly paint: Paint
  /** Previews the changes of going to this checkpoint; `row` is the highlighted one. */
  readonly preview: (id: string, row: PickerRow) => Promise<Preview>
}

/** Null if the user quits. */
export function pick(picking: Picking): Promise<Choice | null> {
  const { groups, usual, paint } = picking
  const previews = new Map<string, Preview>()
  let isComparing = false
  let timer: NodeJS.Timeout | undefined
  return new Promise((resolve, reject) => {
    const screen = enterAlternateScreen(picking, {
      key(key) {
        picker = press(picker, key)
        if (picker.choice === undefined) show()
        else end(() => resolve(picker.choice ?? null))
      },
      redraw() {
        picker = resize(picker, screen.size())
        show()
      },
    })
    let picker = openPicker(groups, { size: screen.size(), usual })
    const end = (finish: () => void) => {
      clearTimeout(timer)
      screen.leave()
      finish()
    }
    const show = () => {
      const target = targetOf(picker)
      const preview = target === undefined ? undefined : previews.get(target.id)
      screen.draw(pickerLines(picker, { preview, paint }))
      clearTimeout(timer)
      // While the user scrolls, no preview is computed.
      if (target !== undefined && preview === undefined && !isComparing)
        timer = setTimeout(
          () => void compare(target).catch((error) => end(() => reject(error))),
          PREVIEW_DELAY_MS,
        )
    }
    const compare = async ({ id, row }: { readonly id: string; readonly row: PickerRow }) => {
      isComparing = true
      previews.set(id, await picking.preview(id, row))
      isComparing = false
      if (picker.choice === undefined) show()
    }
    show()
  })
}

type Listener = readonly [NodeJS.EventEmitter, ...Parameters<NodeJS.EventEmitter['on']>]

/** With raw keys. On every exit, also by a signal or a bug, the terminal is restored before anything is printed. */
function enterAlternateScreen(
  { keyboard, display }: { readonly keyboard: Keyboard; readonly display: Display },
  on: { readonly key: (key: Key) => void; readonly redraw: () => void },
) {
  let isActive = false
  const enter = () => {
    if (isActive) return
    isActive = true
    keyboard.setRawMode?.(true)
    display.write(ENTER)
  }
  const restore = () => {
    if (!isActive) return
    isActive = false
    display.write(LEAVE)
    keyboard.setRawMode?.(false)
  }
  const pressed = (_: string | undefined, key: Key) => {
    if (key.ctrl === true && (key.name === 'c' || key.name === 'z')) {
      restore()
      // As the terminal does without raw mode.
      process.kill(key.name === 'c' ? process.pid : 0, key.name === 'c' ? 'SIGINT' : 'SIGTSTP')
      return
    }
    on.key(key)
  }
  const resumed = () => {
    enter()
    on.redraw()
  }
  // End by the signal: if the terminal is gone, a normal exit of Node 20 aborts and may leave a core dump.
  const hungUp = () => {
    restore()
    process.off('SIGHUP', hungUp)
    process.kill(process.pid, 'SIGHUP')
  }
  const listeners: readonly Listener[] = [
    [keyboard, 'keypress', pressed],
    // The kernel sends SIGHUP to the session leader. If that one survives, we get no signal, only the end of the input.
    [keyboard, 'end', hungUp],
    [keyboard, 'error', hungUp],
    [process, 'SIGHUP', hungUp],
    [display, 'resize', on.redraw],
    [process, 'SIGCONT', resumed],
    [process, 'SIGINT', restore],
    [process, 'SIGTERM', restore],
    [process, 'uncaughtException', restore],
    [process, 'exit', restore],
  ]
  emitKeypressEvents(keyboard)
  // Before the listeners that print something.
  for (const [emitter, event, listener] of listeners) emitter.prependListener(event, listener)
  enter()
  keyboard.resume()
  return {
    draw(lines: readonly string[]) {
      const text = lines.map((line) => `${line}\u001b[K`).join('\r\n')
      if (isActive) display.write(`\u001b[H${text}\u001b[J`)
    },
    size: (): Size => ({ rows: display.rows || 24, columns: display.columns || 80 }),
    leave() {
      restore()
      for (const [emitter, event, listener] of listeners) emitter.off(event, listener)
      keyboard.pause()
    },
  }
}
