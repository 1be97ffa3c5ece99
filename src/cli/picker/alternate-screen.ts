// The alternate screen of a terminal, with raw keys. On every exit, also by a signal or a bug, the terminal is restored
// before anything is printed.
import { emitKeypressEvents } from 'node:readline'
import type { Key, Size } from './picker-state.js'

export type Keyboard = NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown }
export type Display = NodeJS.EventEmitter & {
  readonly rows?: number | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

type AlternateScreen = {
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
  const listener = (_: string | undefined, key: Key) => {
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
  emitKeypressEvents(keyboard)
  keyboard.on('keypress', listener)
  // The kernel sends SIGHUP to the session leader. If that one survives, we get no signal, only the end of the input.
  for (const event of GONE) keyboard.on(event, hungUp)
  display.on('resize', on.redraw)
  // Before the listeners that print something.
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
      if (isActive) display.write(`\u001b[H${text}\u001b[J`)
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
