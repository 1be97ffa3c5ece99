// The one place where errors become text and exit codes.
import { hasCode } from '../../base/index.js'
import type { Screen } from '../terminal/screen.js'
import { bugsUrl } from '../../base/index.js'

export const EXIT = {
  done: 0,
  declined: 1,
  failed: 2,
  bug: 70,
  interrupted: 130,
  ended: 143,
} as const

/** Where an error is told, and in which form. */
export type Teller = {
  readonly screen: Pick<Screen, 'note' | 'paintNote'>
  readonly isJson: boolean
  /** What the process ends with for such a code; the code itself if left out. */
  readonly exitCode?: (code: number) => Promise<number>
}

let exiting: Promise<void> | undefined

/** Tells the error on stderr, once, and returns the exit code it stands for. */
export async function report(error: unknown, teller: Teller): Promise<number> {
  const { screen, isJson } = teller
  const { SavestateError } = await import('../../index.js')
  const { jsonForPeople, printableLines } = await import('../terminal/escape.js')
  if (error instanceof SavestateError) {
    const fault = error.toJSON()
    screen.note(
      isJson ? jsonForPeople({ error: fault }) : prefix(teller) + printableLines(sentences(fault)),
    )
    return fault.code === 'INTERRUPTED' ? EXIT.interrupted : EXIT.failed
  }
  const message = error instanceof Error ? error.message : String(error)
  const stack = error instanceof Error ? (error.stack ?? message) : message
  const url = bugsUrl()
  const where = url === undefined ? '' : ` at ${url}`
  const hint = `This is a bug in Savestate. Please report it${where}, with these lines.`
  screen.note(
    isJson
      ? jsonForPeople({ error: { code: 'INTERNAL', message, hint, stack } })
      : prefix(teller) + printableLines(`${sentences({ message, hint })}\n\n${stack}`),
  )
  return EXIT.bug
}

/** For errors that come from nowhere: no command is left to return a code. */
export async function reportAndExit(error: unknown, teller: Teller): Promise<void> {
  exiting ??= report(error, teller).then(async (code) => {
    await written()
    process.exit((await teller.exitCode?.(code)) ?? code)
  })
  await exiting
}

/** `savestate list > /full/disk` is no bug of ours. */
export async function reportUnwritten(error: unknown, teller: Teller): Promise<void> {
  const { SavestateError } = await import('../../index.js')
  const isFull = hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
  const why = isFull ? 'no space is left' : error instanceof Error ? error.message : String(error)
  const fault = new SavestateError(
    isFull ? 'DISK_FULL' : 'FILE_FAILED',
    `The output could not be written: ${why}`,
    { cause: error },
  )
  await reportAndExit(fault, teller)
}

let onSignal: ((signal: 'SIGINT' | 'SIGTERM') => void) | undefined

/** For a command that ends when it is told to: from now on the signal does not end the process. */
export function endOnSignals(): AbortSignal {
  const ending = new AbortController()
  // The terminal is closed.
  process.once('SIGHUP', () => ending.abort())
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    if (onSignal !== undefined) process.off(signal, onSignal)
    process.once(signal, () => {
      // A second one means it.
      if (onSignal !== undefined) process.on(signal, onSignal)
      ending.abort()
    })
  }
  return ending.signal
}

/** From now on signals are the business of who calls this. */
export function leaveSignals(): void {
  if (onSignal === undefined) return
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal)
}

function handleSignals(): void {
  if (onSignal === undefined) return
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
}

/**
 * For work that blocks the event loop for long, such as parsing a large text: a handler would run only after it. Meanwhile
 * a signal ends the process as it ends any other program, without a message. A question in it is asked by `ask`.
 */
export async function endedBySignals<Result>(
  work: (ask: <Answer>(question: () => Promise<Answer>) => Promise<Answer>) => Promise<Result>,
): Promise<Result> {
  leaveSignals()
  try {
    return await work(async (question) => {
      handleSignals()
      try {
        return await question()
      } finally {
        leaveSignals()
      }
    })
  } finally {
    handleSignals()
  }
}

let waiting = 0

/** For a question that is asked before anything is changed: a signal meanwhile says that nothing was. */
export async function beforeChanges<Result>(ask: () => Promise<Result>): Promise<Result> {
  waiting += 1
  try {
    return await ask()
  } finally {
    waiting -= 1
  }
}

/** A signal ends the work at once: the store is whole at every moment, and the next command goes on. */
export function exitOnSignals(teller: Teller, beforeExit: () => void): void {
  const end = (signal: 'SIGINT' | 'SIGTERM') => {
    beforeExit()
    const isBegun = waiting === 0
    const message = isBegun ? 'Interrupted before it was done' : 'Nothing was changed'
    const hint = isBegun
      ? 'Nothing is lost. The next command finishes a rewind that had started.'
      : null
    // Written at once and without the SDK: whoever interrupts does not wait for a module to load.
    const error = { code: 'INTERRUPTED', message, hint }
    // The terminal has put a ^C where the cursor was.
    if (process.stderr.isTTY) process.stderr.write('\n')
    process.stderr.write(
      teller.isJson
        ? `${JSON.stringify({ error }, null, 2)}\n`
        : `${isBegun ? prefix(teller) : ''}${sentences(error)}\n`,
    )
    process.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.ended)
  }
  onSignal = end
  handleSignals()
}

function sentences({ message, hint }: { message: string; hint: string | null }): string {
  const end = /[.?!]$/.test(message) ? '' : '.'
  return `${message}${end}${hint === null ? '' : `\n${hint}`}`
}

function prefix({ screen }: Teller): string {
  return screen.paintNote('red', 'Error: ')
}

/** Until stderr has everything: the process is about to end. */
function written(): Promise<void> {
  return new Promise((resolve) => {
    process.stderr.write('', () => resolve())
  })
}
