// The one place where errors become text and exit codes.
import { paintFor, wantsColour } from './paint.js'

export const EXIT = {
  done: 0,
  declined: 1,
  failed: 2,
  bug: 70,
  interrupted: 130,
  ended: 143,
} as const

let isJson = false
let exiting: Promise<void> | undefined

/** Errors are told as JSON from now on. */
export function reportErrorsAsJson(): void {
  isJson = true
}

/** Tells the error on stderr, once, and returns the exit code it stands for. */
export async function report(error: unknown): Promise<number> {
  const { SavestateError } = await import('../index.js')
  const { jsonForPeople, printableLines } = await import('./printable.js')
  if (error instanceof SavestateError) {
    const fault = error.toJSON()
    await tell(
      isJson ? jsonForPeople({ error: fault }) : prefix() + printableLines(sentences(fault)),
    )
    return fault.code === 'INTERRUPTED' ? EXIT.interrupted : EXIT.failed
  }
  const message = error instanceof Error ? error.message : String(error)
  const stack = error instanceof Error ? (error.stack ?? message) : message
  const hint =
    'This is a bug in savestate, not a mistake of yours. Please report it with these lines.'
  await tell(
    isJson
      ? jsonForPeople({ error: { code: 'INTERNAL', message, hint, stack } })
      : prefix() + printableLines(`${sentences({ message, hint })}\n\n${stack}`),
  )
  return EXIT.bug
}

/** For errors that come from nowhere: no command is left to return a code. */
export async function reportAndExit(error: unknown): Promise<void> {
  exiting ??= report(await withoutRoom(error)).then((code) => process.exit(code))
  await exiting
}

/** A signal ends the work at once: the store is whole at every moment, and the next command goes on. */
export function exitOnSignals(beforeExit: () => void): void {
  const end = (signal: 'SIGINT' | 'SIGTERM') => {
    beforeExit()
    const message = 'Interrupted before it was done'
    const hint = 'Nothing is lost. A rewind that had begun is finished by the next command.'
    // Written at once and without the SDK: whoever interrupts does not wait for a module to load.
    const error = { code: 'INTERRUPTED', message, hint }
    // The terminal has put a ^C where the cursor was.
    if (process.stderr.isTTY) process.stderr.write('\n')
    process.stderr.write(
      isJson ? `${JSON.stringify({ error }, null, 2)}\n` : `${prefix()}${sentences(error)}\n`,
    )
    process.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.ended)
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** `savestate list > /full/disk` is no bug of ours. */
async function withoutRoom(error: unknown): Promise<unknown> {
  if (!hasCode(error, 'ENOSPC')) return error
  const { SavestateError } = await import('../index.js')
  return new SavestateError('DISK_FULL', 'The answer could not be written: no space is left', {
    cause: error,
  })
}

function sentences({ message, hint }: { message: string; hint: string | null }): string {
  const end = /[.?!]$/.test(message) ? '' : '.'
  return `${message}${end}${hint === null ? '' : `\n${hint}`}`
}

function prefix(): string {
  return paintFor(wantsColour(process.stderr, process.env))('red', 'Error: ')
}

/** Waits until it is written: the process may be about to end. */
function tell(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stderr.write(`${text}\n`, () => resolve())
  })
}
