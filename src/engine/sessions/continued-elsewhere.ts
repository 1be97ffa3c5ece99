// Remembers that a session came from another machine with its last pull, where its folder has another path: the next agent must know.
import { pathText, type Project } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import { changeNote, readNote } from '../store/kv-notes.js'

const KEEP_DAYS = 30

export function noteContinuedElsewhere(context: StoreContext, id: string): void {
  changeNote(context, { key: keyOf(id), keepDays: KEEP_DAYS, change: () => 'yes' })
}

/** For the brief of a resumed session. */
export function continuedElsewhere(
  context: StoreContext,
  { id, project }: { readonly id: string; readonly project: Project | undefined },
): readonly string[] {
  if (readNote(context, keyOf(id)) === undefined) return []
  const here = project === undefined ? '' : `, and its folder is ${pathText(project.path)} here`
  return [
    `This session has continued on another machine${here}. Paths in earlier messages and tool calls may be those of that machine.`,
  ]
}

function keyOf(id: string): string {
  return `elsewhere:${id}`
}
