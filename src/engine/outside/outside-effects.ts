// Lists what a rewind cannot take back because it is outside the folder: commands of agents that pushed, published, deployed,
// or wrote to a server or a database.
import { maskSecrets, type OutsideKind } from '../../base/index.js'
import type { OutsideRow } from '../../ledger/index.js'

export type OutsideEffect = {
  /** The checkpoint after the call. */
  readonly checkpoint: string
  /** Shortened, with secrets masked. In an encrypted store it may be the name of the tool. */
  readonly command: string
  /** The start of the prompt under which it ran; null if it is not known. */
  readonly prompt: string | null
  readonly at: Date
  readonly kind: OutsideKind
}

const MAX_EFFECTS = 100

/** In the order of the rows, at most MAX_EFFECTS. */
export function outsideEffects(rows: readonly OutsideRow[]): readonly OutsideEffect[] {
  return rows
    .flatMap(({ checkpoint, atMs, prompt, commands }) =>
      commands.map(({ command, kind }) => ({
        checkpoint,
        command,
        prompt: prompt === null ? null : maskSecrets(prompt).text,
        at: new Date(atMs),
        kind,
      })),
    )
    .slice(0, MAX_EFFECTS)
}
