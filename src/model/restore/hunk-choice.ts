// The choice of hunks and lines of one file that a rewind takes back. Plain JSON.

/** The number of a hunk in the patch of the file, from 0; with `lines`, only these of its lines, from 0. */
export type HunkSelection = number | { readonly hunk: number; readonly lines: readonly number[] }

export type HunkChoice = {
  /** Relative to the project. */
  readonly path: string
  /** The mark of the patch that the choice was made from: of the checkpoint and the folder as it is now. */
  readonly mark: string
  /** How many unchanged lines that patch shows around a change, if it is not 3. */
  readonly context?: number | undefined
  /** `all`: the whole file with its permissions, also if it is a link or binary. */
  readonly hunks: 'all' | readonly HunkSelection[]
}
