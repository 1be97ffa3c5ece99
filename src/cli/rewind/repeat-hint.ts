// Completes the hint of a failed rewind, undo or redo, which contains the command that repeats it. The engine knows the
// checkpoint; -C and the options of the user are added here.
import { SavestateError } from '../../index.js'
import type { Request } from '../runtime/command.js'
import { commandLine, programFor } from '../terminal/shell-quote.js'

const FLAGS = [
  'before',
  'both',
  'conversation',
  'state',
  'keep-mine',
  'continue',
  'ours',
  'theirs',
] as const
const REPEAT = /(?<=repeat it: )savestate ((?:rewind|undo|redo)(?: [a-z.]{18,})*)$/m
const PROGRAM = /\bsavestate (?=(?:rewind|undo) [a-z.]{18,})/g

/** `words`: the command that repeats it, if it is another one than the hint says. */
export async function withRepeatHint<Result>(
  request: Request,
  words: readonly string[] | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof SavestateError) || error.hint === null) throw error
    const program = programFor(request.options)
    const again = (found: string) =>
      commandLine([...(words ?? found.split(' ')), ...optionWords(request)])
    const hint = error.hint
      .replace(REPEAT, (_, found: string) => `${program} ${again(found)}`)
      .replace(PROGRAM, () => `${program} `)
    throw new SavestateError(error.code, error.message, { hint, cause: error.cause })
  }
}

/** The options that affect the target and the parts of a rewind. */
function optionWords({ options }: Request): readonly string[] {
  const of = options.text('session')
  const conflict = options.text('conflict')
  return [
    ...FLAGS.filter((name) => options.has(name)).map((name) => `--${name}`),
    ...(conflict === undefined ? [] : [`--conflict=${conflict}`]),
    ...(of === undefined ? [] : ['--session', of]),
    ...options.texts('path').flatMap((path) => ['--path', path]),
  ]
}
