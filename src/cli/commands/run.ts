// Runs a command of the user and saves before, during and after it. The command runs even if saves fail, and we end with
// its exit code or signal.
import { constants } from 'node:os'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { autoSave, type Project, SavestateError } from '../../index.js'
import type { Command, Request } from '../runtime/command.js'
import { leaveSignals } from '../runtime/exit.js'
import { passSignals } from '../run/pass-signals.js'
import { type Beginning, reportOutcome, type Saved } from '../run/run-outcome.js'
import { type Ending, startCommand } from '../run/start-command.js'
import { commandLine, quoteForShell } from '../terminal/shell-quote.js'
import { cutEnd } from '../terminal/text-width.js'

const SECOND_MS = 1000
const MAX_REASON = 200
const MAX_AUTHOR = 20
/** Shells add this to the number of a signal. */
const BY_SIGNAL = 128

export const run: Command = async (request) => {
  const { words, options, bar, screen } = request
  // Node starts a command with UTF-8 text only.
  if (words.some((word) => /\p{Cs}/u.test(word)))
    throw new SavestateError('BAD_INPUT', 'An argument of the command is not UTF-8 text', {
      hint: "Let a shell find the name: savestate run -- sh -c 'COMMAND PATTERN'",
    })
  const line = commandLine(words)
  const reason = (kind: string) => options.text('message') ?? cutEnd(`${kind}: ${line}`, MAX_REASON)
  const beginning = await saveBefore(request, reason('Before'))
  const { project, failure } = beginning
  bar.erase()
  if (failure !== undefined && !request.isJson)
    screen.note('savestate: the folder could not be saved; the command runs anyway.')
  const over = new AbortController()
  const notices: string[] = []
  const release = passSignals(() => command.child)
  leaveSignals()
  const command = startCommand(words)
  const quiet = options.number('quiet')
  const saving =
    project === undefined
      ? Promise.resolve(NOTHING)
      : keepSaving(project, {
          signal: over.signal,
          reason: reason('Run'),
          // `make` for `/usr/bin/make`.
          author: cutEnd(basename(words[0] ?? ''), MAX_AUTHOR) || 'run',
          ...(quiet === undefined ? {} : { quietMs: quiet * SECOND_MS }),
          // The command owns the terminal, so notices wait.
          onWarning: (text) => void notices.push(text),
        })
  const ending = await command.ended
  const code = endLike(ending)
  stopOnSignals(request, code)
  release()
  // The terminal has printed ^C at the cursor.
  if (ending.signal === 'SIGINT' && process.stderr.isTTY) screen.note('')
  if (ending.refusal !== undefined)
    screen.note(`savestate: ${quoteForShell(words[0] ?? '')}: ${ending.refusal}`)
  over.abort()
  const saved = await saving
  for (const text of notices) request.hooks.onWarning?.(text)
  await reportOutcome(request, { ...beginning, saved, ending })
  return code
}

const NOTHING: Saved = { checkpoints: 0, last: undefined, failures: [], isComplete: false }

async function saveBefore(request: Request, reason: string): Promise<Beginning> {
  let project: Project | undefined
  try {
    project = await request.project()
    project.watch()
    return { project, before: (await project.save({ reason, ...request.hooks })).id }
  } catch (failure) {
    return { ...(project === undefined ? {} : { project }), failure }
  }
}

const AGAIN_MS = 5000

/** Ends after the signal, with a last save. Collects the errors of saves: they never disturb the command. */
async function keepSaving(
  project: Project,
  options: Parameters<typeof autoSave>[1] & { readonly signal: AbortSignal },
): Promise<Saved> {
  let last: Saved['last']
  let checkpoints = 0
  const failures: unknown[] = []
  for (;;) {
    const isLastTry = options.signal.aborted
    try {
      await autoSave(project, {
        ...options,
        // The folder was saved before the command started; a save now could capture half of its work.
        isSaved: failures.length === 0,
        onSaved(saved) {
          last = saved
          checkpoints += 1
        },
      })
      return { checkpoints, last, failures, isComplete: true }
    } catch (error) {
      failures.push(error)
      if (isLastTry) return { checkpoints, last, failures, isComplete: false }
      await sleep(AGAIN_MS, undefined, { signal: options.signal }).catch((failure: unknown) => {
        // The command has ended, and with it the pause.
        if (!options.signal.aborted) throw failure
      })
    }
  }
}

/** Returns the exit code. If a signal killed the command, we end by the same signal, once everything is closed. */
function endLike({ exitCode, signal }: Ending): number {
  if (signal === null) return exitCode ?? 0
  process.once('exit', () => {
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
  return BY_SIGNAL + constants.signals[signal]
}

const SAME_SIGNAL_MS = 500

/** After the command has ended, a signal skips the last save. */
function stopOnSignals({ screen }: Request, code: number): void {
  const sinceMs = performance.now()
  const stop = () => {
    // The Ctrl-C that ended the command may reach us after its exit event.
    if (performance.now() - sinceMs < SAME_SIGNAL_MS) return
    screen.note('savestate: interrupted; the changes of the command are not saved.')
    process.exit(code)
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  // If the terminal was closed, save anyway.
  process.on('SIGHUP', () => undefined)
}
