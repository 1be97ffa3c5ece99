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

type Listener = readonly [NodeJS.EventEmitter, ...Parameters<NodeJS.EventEmitter['on']>]

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
  const press = (_: string | undefined, key: Key) => {
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
    [keyboard, 'keypress', press],
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
    draw(lines) {
      const text = lines.map((line) => `${line}\u001b[K`).join('\r\n')
      if (isActive) display.write(`\u001b[H${text}\u001b[J`)
    },
    size: () => ({ rows: display.rows || 24, columns: display.columns || 80 }),
    leave() {
      restore()
      for (const [emitter, event, listener] of listeners) emitter.off(event, listener)
      keyboard.pause()
    },
  }
}
