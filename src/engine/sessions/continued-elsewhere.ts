// Remembers that a session was continued on another machine, and came here with the last push or pull: the next agent must know, because
// its folder has another path there, and because the steps of this machine may have become another session.
import { pathText, type Project } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import { changeNote, readNote } from '../store/kv-notes.js'

const KEEP_DAYS = 30

/** `fork`: the session that got the steps of this machine, if there were any. */
export function noteContinuedElsewhere(
  context: StoreContext,
  { id, fork }: { readonly id: string; readonly fork: string | null },
): void {
  // The text is the last fork, or empty.
  const change = (before: string | undefined) => fork ?? before ?? ''
  changeNote(context, { key: keyOf(id), keepDays: KEEP_DAYS, change })
}

/** For the brief of a resumed session. */
export function continuedElsewhere(
  context: StoreContext,
  { id, project }: { readonly id: string; readonly project: Project | undefined },
): readonly string[] {
  const fork = readNote(context, keyOf(id))
  if (fork === undefined) return []
  const here = project === undefined ? '' : `, and its folder is ${pathText(project.path)} here`
  return [
    `This session has continued on another machine${here}. Paths in earlier messages and tool calls may be those of that machine.`,
    ...(fork === ''
      ? []
      : [
          `Steps of this machine that the other one did not have are not part of this session: they are in the session ${JSON.stringify(fork)}.`,
        ]),
  ]
}

function keyOf(id: string): string {
  return `elsewhere:${id}`
}
