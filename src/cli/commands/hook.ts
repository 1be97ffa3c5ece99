import type { Answer, HookRequest } from '../../adapters/index.js'
import type { Store } from '../../index.js'
import type { Command, Request } from '../command.js'
import { AGENTS } from '../agent-commands.js'

/** An agent that waits longer than this is slowed by us. */
const PATIENCE_SECONDS = 10
/** Agents send whole files and the output of commands. */
const MAX_INPUT_BYTES = 32 * 1024 * 1024

export const run: Command = async (request) => {
  const seconds = request.options.number('patience') ?? PATIENCE_SECONDS
  const work = new Work(request)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), seconds * 1000)
  })
  const answer = await Promise.race([work.answer(), late])
  clearTimeout(timer)
  if (answer !== 'late') return told(answer)
  const exitCode = await told(await work.lateAnswer(seconds))
  // What is still under way is given up; the store is whole at every moment.
  process.exit(exitCode)
}

class Work {
  readonly #request: Request
  #hook: HookRequest
  #store: Store | undefined

  constructor(request: Request) {
    this.#request = request
    const agent = AGENTS.find((name) => name === request.argument(0))
    if (agent === undefined) throw new Error('The table lets an unknown agent through')
    this.#hook = {
      agent,
      eventName: request.argument(1),
      payload: undefined,
      strict: request.options.has('strict'),
      cwd: currentFolder(),
    }
  }

  async answer(): Promise<Answer> {
    this.#hook = { ...this.#hook, payload: parsedJson(await readInput()) }
    const { answerWithoutStore, handleHook } = await import('../../adapters/index.js')
    try {
      this.#store = await this.#request.store()
    } catch (error) {
      return answerWithoutStore(this.#hook, error)
    }
    return handleHook(this.#store, this.#hook)
  }

  async lateAnswer(seconds: number): Promise<Answer> {
    const { SavestateError } = await import('../../index.js')
    const { answerWithoutStore, failHook } = await import('../../adapters/index.js')
    const error = new SavestateError('INTERRUPTED', `It was not done after ${seconds} seconds`, {
      hint: 'Run `savestate save` in the folder once: later saves are quicker.',
    })
    return this.#store === undefined
      ? answerWithoutStore(this.#hook, error)
      : failHook(this.#store, this.#hook, error)
  }
}

async function told({ stdout, stderr, exitCode }: Answer): Promise<number> {
  await written(process.stdout, stdout)
  await written(process.stderr, stderr)
  return exitCode
}

function written(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (text === '') resolve()
    else stream.write(text, () => resolve())
  })
}

/** Undefined for more than any event has. */
async function readInput(): Promise<string | undefined> {
  const parts: Buffer[] = []
  let sizeBytes = 0
  for await (const part of process.stdin) {
    const bytes = Buffer.from(part)
    sizeBytes += bytes.length
    if (sizeBytes > MAX_INPUT_BYTES) return undefined
    parts.push(bytes)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Undefined for what is not JSON: the mapper then says that it is malformed. */
function parsedJson(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function currentFolder(): string | undefined {
  try {
    return process.cwd()
  } catch {
    // It was removed. The event says where it happened, or is reported as malformed.
    return undefined
  }
}
