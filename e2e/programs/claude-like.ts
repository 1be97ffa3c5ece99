// Conventions of Claude Code that other agents share: the form of its hooks, and a transcript in JSON lines.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sandbox } from '../install-folder.js'

export type CommandHooks = Readonly<
  Record<
    string,
    readonly { readonly hooks: readonly { readonly type: 'command'; readonly command: string }[] }[]
  >
>

/** One command for each event, as the settings have them. */
export function commandHooks(
  events: readonly string[],
  commandFor: (event: string) => string,
): CommandHooks {
  return Object.fromEntries(
    events.map((event) => [event, [{ hooks: [{ type: 'command', command: commandFor(event) }] }]]),
  )
}

/** Copies the conversation up to the line that starts a turn. Returns the path. */
export function cutTranscript(
  sandbox: Sandbox,
  {
    lines,
    isTurn,
  }: { readonly lines: readonly string[]; readonly isTurn: (line: string) => boolean },
): string {
  const first = lines.findIndex(isTurn)
  if (first === -1) throw new Error('The turn is not in the transcript')
  const path = join(sandbox.root, 'cut.jsonl')
  const kept = lines.slice(0, first).map((line) => `${line}\n`)
  writeFileSync(path, kept.join(''))
  return path
}
