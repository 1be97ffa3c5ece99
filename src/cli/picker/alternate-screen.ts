// The second screen of a terminal, with keys as they are typed. On every way out, also by a signal or a bug, the terminal is as
// it was: first that, then whatever there is to say.
import { emitKeypressEvents } from 'node:readline'
import type { Key, Size } from './picker-state.js'

/** What the picker needs of the two streams; `process.stdin` and `process.stderr`, or stand-ins. */
export type Keyboard = NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown }
export type Display = NodeJS.EventEmitter & {
  readonly rows?: number | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

export type AlternateScreen = {
  draw(lines: readonly string[]): void
  size(): Size
  leave(): void
}

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'
const ENDING = ['SIGINT', 'SIGTERM'] as const
const GONE = ['end', 'error'] as const

export function enterAlternateScreen(
  { keyboard, display }: { readonly keyboard: Keyboard; readonly display: Display },
  on: { readonly key: (key: Key) => void; readonly redraw: () => void },
): AlternateScreen {
  let isThere = false
  const enter = () => {
    if (isThere) return
    isThere = true
    keyboard.setRawMode?.(true)
    display.write(ENTER)
  }
  const restore = () => {
    if (!isThere) return
    isThere = false
    display.write(LEAVE)
    keyboard.setRawMode?.(false)
  }
  const listener = (_: string | undefined, key: Key) => {
    if (key.ctrl === true && (key.name === 'c' || key.name === 'z')) {
      restore()
      // As the terminal itself would, if the keys were not ours.
      process.kill(key.name === 'c' ? process.pid : 0, key.name === 'c' ? 'SIGINT' : 'SIGTSTP')
      return
    }
    on.key(key)
  }
  const resumed = () => {
    enter()
    on.redraw()
  }
  // By the signal itself: Node 20 aborts, and may leave a core, when it exits by its own will and its terminal is gone.
  const hungUp = () => {
    restore()
    process.off('SIGHUP', hungUp)
    process.kill(process.pid, 'SIGHUP')
  }
  emitKeypressEvents(keyboard)
  keyboard.on('keypress', listener)
  // The signal goes to the first process of the terminal's session. That may live on, and then none comes to us.
  for (const event of GONE) keyboard.on(event, hungUp)
  display.on('resize', on.redraw)
  // Before those that tell of it.
  for (const signal of ENDING) process.prependListener(signal, restore)
  process.prependListener('uncaughtException', restore)
  process.prependListener('exit', restore)
  process.on('SIGCONT', resumed)
  process.on('SIGHUP', hungUp)
  enter()
  keyboard.resume()
  return {
    draw(lines) {
      const text = lines.map((line) => `${line}\u001b[K`).join('\r\n')
      if (isThere) display.write(`\u001b[H${text}\u001b[J`)
    },
    size: () => ({ rows: display.rows || 24, columns: display.columns || 80 }),
    leave() {
      restore()
      keyboard.off('keypress', listener)
      for (const event of GONE) keyboard.off(event, hungUp)
      keyboard.pause()
      display.off('resize', on.redraw)
      for (const signal of ENDING) process.off(signal, restore)
      process.off('uncaughtException', restore)
      process.off('exit', restore)
      process.off('SIGCONT', resumed)
      process.off('SIGHUP', hungUp)
    },
  }
}
