// The line that an agent runs. It names no version and no folder of one, since some agents ask the person for trust
// in exactly this line, and it must last.
import { SavestateError } from '../../index.js'
import type { AgentName } from '../agents/event.js'
import { type Environment, programOnPath } from './places.js'

export type HookCommand = {
  /** `savestate`, or the quoted path of the program. */
  readonly program: string
  readonly strict: boolean
}

/**
 * The name alone where the program is on PATH: that stays right when it is updated. Else its path. Throws BAD_INPUT
 * for a copy that will soon be gone.
 */
export function hookProgram(programPath: string, environment: Environment): string {
  if (programOnPath('savestate', environment) !== undefined) return 'savestate'
  if (/[\\/]_npx[\\/]/.test(programPath)) {
    throw new SavestateError('BAD_INPUT', 'Savestate runs from a folder that npx will remove', {
      hint: 'Install it for good first: npm install -g savestate',
    })
  }
  return quoted(programPath)
}

export function commandLine(
  { program, strict }: HookCommand,
  agent: AgentName,
  event: string,
): string {
  return `${program} hook ${agent} ${event}${strict ? ' --strict' : ''}`
}

/** Whoever wrote it, also an older version or one at another place. */
export function isOurCommand(command: unknown, agent: AgentName): boolean {
  if (typeof command !== 'string') return false
  const [, name] = /^(?:savestate|'.*') hook (\w+) [\w.]+(?: --strict)?$/.exec(command) ?? []
  return name === agent
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", String.raw`'\''`)}'`
}
