// The hint of a failed rewind names the command that repeats it. The engine knows the checkpoint; the options that the
// user typed are known here.
import { SavestateError } from '../index.js'
import type { Request } from './command.js'
import { commandLine, programFor } from './shell-quoted.js'

const FLAGS = ['before', 'both', 'conversation', 'state', 'keep-mine', 'continue'] as const

/** Runs a rewind to a checkpoint. The command in the hint of its error gets -C and all options of this request. */
export async function withRepeatHint<Result>(
  request: Request,
  id: string,
  rewind: () => Promise<Result>,
): Promise<Result> {
  try {
    return await rewind()
  } catch (error) {
    if (!(error instanceof SavestateError) || error.hint === null) throw error
    const command = repeatCommand(request, id)
    const hint = error.hint.replace(/(?<=repeat it: )savestate rewind [a-z]{18}$/, () => command)
    throw new SavestateError(error.code, error.message, { hint, cause: error.cause })
  }
}

function repeatCommand({ options }: Request, id: string): string {
  const of = options.text('session')
  const words = [
    'rewind',
    id,
    ...FLAGS.filter((name) => options.has(name)).map((name) => `--${name}`),
    ...(of === undefined ? [] : ['--session', of]),
    ...options.texts('path').flatMap((path) => ['--path', path]),
  ]
  return `${programFor(options)} ${commandLine(words)}`
}
