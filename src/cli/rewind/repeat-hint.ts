// Completes the hint of a failed rewind, undo or redo, which contains the command that repeats it. The engine knows the
// checkpoint; -C and the options of the user are added here.
import { SavestateError } from '../../index.js'
import type { Request } from '../runtime/command.js'
import { commandLine, programFor } from '../terminal/shell-quote.js'

const FLAGS = ['before', 'both', 'conversation', 'state', 'keep-mine', 'continue'] as const
const REPEAT = /(?<=repeat it: )savestate (?:rewind [a-z]{18}|undo|redo)$/m
const PROGRAM = /\bsavestate (?=rewind [a-z]{18}\b)/g

/** `words`: `rewind` with an id, `undo` or `redo`. */
export async function withRepeatHint<Result>(
  request: Request,
  words: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SavestateError) || error.hint === null) throw error
    const program = programFor(request.options)
    const again = commandLine([...words, ...optionWords(request)])
    const hint = error.hint
      .replace(REPEAT, () => `${program} ${again}`)
      .replace(PROGRAM, () => `${program} `)
    throw new SavestateError(error.code, error.message, { hint, cause: error.cause })
  }
}

/** The options that affect the target and the parts of a rewind. */
function optionWords({ options }: Request): readonly string[] {
  const of = options.text('session')
  return [
    ...FLAGS.filter((name) => options.has(name)).map((name) => `--${name}`),
    ...(of === undefined ? [] : ['--session', of]),
    ...options.texts('path').flatMap((path) => ['--path', path]),
  ]
}
