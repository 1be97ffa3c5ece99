// Turns errors into text and exit codes, and handles signals.
import { bugsUrl, hasCode } from '../../base/index.js'
import type { Screen } from '../terminal/screen.js'

export const EXIT = {
  done: 0,
  declined: 1,
  failed: 2,
  bug: 70,
  interrupted: 130,
  ended: 143,
} as const

/** Where and how an error is reported. */
type Reporter = {
  readonly screen: Pick<Screen, 'note' | 'paintNote'>
  readonly isJson: boolean
  /** Replaces the exit code. */
  readonly exitCode?: (code: number) => Promise<number>
}

let exiting: Promise<void> | undefined

/** Prints the error on stderr, and returns its exit code. */
export async function report(error: unknown, reporter: Reporter): Promise<number> {
  const { SavestateError } = await import('../../index.js')
  const { displayJson, printableLines } = await import('../terminal/escape.js')
  const isKnown = error instanceof SavestateError
  const fault = isKnown ? error.toJSON() : bugFault(error)
  const text = 'stack' in fault ? `${sentences(fault)}\n\n${fault.stack}` : sentences(fault)
  reporter.screen.note(
    reporter.isJson ? displayJson({ error: fault }) : prefix(reporter) + printableLines(text),
  )
  if (!isKnown) return EXIT.bug
  return error.code === 'INTERRUPTED' ? EXIT.interrupted : EXIT.failed
}

function bugFault(error: unknown) {
  const message = error instanceof Error ? error.message : String(error)
  const stack = error instanceof Error ? (error.stack ?? message) : message
  const url = bugsUrl()
  const where = url === undefined ? '' : ` at ${url}`
  const hint = `This is a bug in Savestate. Please report it${where}, with these lines.`
  return { code: 'INTERNAL', message, hint, stack }
}

/** For errors outside any command. The first one ends the process. */
export async function reportAndExit(error: unknown, reporter: Reporter): Promise<void> {
  exiting ??= report(error, reporter).then(async (code) => {
    await flushStderr()
    process.exit((await reporter.exitCode?.(code)) ?? code)
  })
  await exiting
}

/** `savestate list > /full/disk` is an error of the system, not a bug. */
export async function reportUnwritten(error: unknown, reporter: Reporter): Promise<void> {
  const { SavestateError } = await import('../../index.js')
  const isFull = hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
  const why = isFull ? 'no space is left' : error instanceof Error ? error.message : String(error)
  const fault = new SavestateError(
    isFull ? 'DISK_FULL' : 'FILE_FAILED',
    `The output could not be written: ${why}`,
    { cause: error },
  )
  await reportAndExit(fault, reporter)
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

let onSignal: (signal: (typeof SIGNALS)[number]) => void = () => undefined

/** For a command that runs until a signal: the first one aborts, the second one ends the process. */
export function endOnSignals(): AbortSignal {
  const ending = new AbortController()
  leaveSignals()
  process.once('SIGHUP', () => ending.abort())
  for (const signal of SIGNALS)
    process.once(signal, () => {
      process.on(signal, onSignal)
      ending.abort()
    })
  return ending.signal
}

/** From now on the caller handles signals. */
export function leaveSignals(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal)
}

function handleSignals(): void {
  for (const signal of SIGNALS) process.on(signal, onSignal)
}

/** While another program uses the terminal, it handles Ctrl-C. */
export async function ignoreInterrupts<Result>(work: () => Promise<Result>): Promise<Result> {
  const ignore = () => undefined
  const interrupts = process.listeners('SIGINT')
  process.removeAllListeners('SIGINT').on('SIGINT', ignore)
  try {
    return await work()
  } finally {
    process.off('SIGINT', ignore)
    for (const interrupt of interrupts) process.on('SIGINT', interrupt)
  }
}

/**
 * For work that blocks the event loop for long, such as parsing a large text: a handler would run only afterwards. During
 * the work a signal ends the process by default, without a message. The work asks questions through `ask`.
 */
export async function withDefaultSignals<Result>(
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

/** For a question before the first change: a signal during it reports that nothing was changed. */
export async function beforeChanges<Result>(ask: () => Promise<Result>): Promise<Result> {
  waiting += 1
  try {
    return await ask()
  } finally {
    waiting -= 1
  }
}

/** A signal ends the work at once. The store is always consistent, and the next command finishes the work. */
export function exitOnSignals(reporter: Reporter, beforeExit: () => void): void {
  onSignal = (signal) => {
    beforeExit()
    const isStarted = waiting === 0
    const message = isStarted ? 'Interrupted before it was done' : 'Nothing was changed'
    const hint = isStarted
      ? 'Nothing is lost. The next command finishes a rewind that had started.'
      : null
    // Without SavestateError: loading the SDK would delay the exit.
    const error = { code: 'INTERRUPTED', message, hint }
    // The terminal has printed ^C at the cursor.
    if (process.stderr.isTTY) process.stderr.write('\n')
    process.stderr.write(
      reporter.isJson
        ? `${JSON.stringify({ error }, null, 2)}\n`
        : `${isStarted ? prefix(reporter) : ''}${sentences(error)}\n`,
    )
    process.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.ended)
  }
  handleSignals()
}

function sentences({ message, hint }: { message: string; hint: string | null }): string {
  const end = /[.?!]$/.test(message) ? '' : '.'
  return `${message}${end}${hint === null ? '' : `\n${hint}`}`
}

function prefix({ screen }: Reporter): string {
  return screen.paintNote('red', 'Error: ')
}

function flushStderr(): Promise<void> {
  return new Promise((resolve) => {
    process.stderr.write('', () => resolve())
  })
}
