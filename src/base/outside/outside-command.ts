// A command that probably changed something outside the project's folder, as hooks store it and plans show it. Apart from the table
// that recognizes such commands, which only hooks load.
import { fieldsOf } from '../json.js'

const OUTSIDE_KINDS = [
  'push',
  'publish',
  'deploy',
  'containers',
  'infrastructure',
  'database',
  'http',
  'remote',
  'mcp',
] as const

export type OutsideKind = (typeof OUTSIDE_KINDS)[number]

/** `command` is short and has its secrets masked. */
export type OutsideCommand = { readonly command: string; readonly kind: OutsideKind }

/** From JSON. Ignores malformed items. */
export function parseOutsideCommands(value: unknown): readonly OutsideCommand[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) => {
    const { command, kind: given } = fieldsOf(item)
    const kind = OUTSIDE_KINDS.find((one) => one === given)
    return typeof command === 'string' && kind !== undefined ? [{ command, kind }] : []
  })
}
