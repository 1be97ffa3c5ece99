// Works on a project with the command line, as users and hooks do: each command goes to the daemon.
import { execFile } from 'node:child_process'
import process from 'node:process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export type Program = { readonly bin: string; readonly home: string }

/** The operations of a project, by the SDK or by the command line. */
export type Workplace = {
  save(input?: { readonly reason?: string; readonly name?: string }): Promise<{ id: string }>
  pin(id: string): Promise<unknown>
  rewind(ref: string): Promise<unknown>
  undo(): Promise<unknown>
  diff(ref: string): Promise<unknown>
  list(input?: { readonly limit?: number }): Promise<unknown>
}

export function byCommands(program: Program, path: string): Workplace {
  const run = (...args: readonly string[]) => answerOf(program, [...args, '--json', '-C', path])
  return {
    async save({ reason, name } = {}) {
      const because = reason === undefined ? [] : ['-m', reason]
      const called = name === undefined ? [] : ['--name', name]
      const { id } = await run('save', ...because, ...called)
      return { id: String(id) }
    },
    pin: (id) => run('pin', id),
    rewind: (ref) => run('rewind', ref, '-y'),
    undo: () => run('undo', '-y'),
    diff: (ref) => run('diff', ref),
    list: ({ limit = 20 } = {}) => run('list', '--limit', String(limit)),
  }
}

/** Throws an error with the code that the program printed. */
export async function answerOf(
  { bin, home }: Program,
  args: readonly string[],
): Promise<Record<string, unknown>> {
  const { NODE_EXTRA_CA_CERTS: _, ...environment } = process.env
  try {
    const { stdout } = await execute(process.execPath, [bin, ...args], {
      env: { ...environment, SAVESTATE_HOME: home },
      maxBuffer: 1 << 26,
    })
    return JSON.parse(stdout) as Record<string, unknown>
  } catch (error) {
    const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
    const code = /"code": "(\w+)"/.exec(output)?.[1]
    throw Object.assign(new Error(`savestate ${args.join(' ')}: ${output || String(error)}`), {
      code,
    })
  }
}
