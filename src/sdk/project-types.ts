// Options of the calls of a project.
export type RewindInput = {
  readonly to: string
  /**
   * Go to just before what that checkpoint names. For a checkpoint made after a tool call this is the one before it in the
   * project; one made before a prompt or call is its own answer.
   */
  readonly before?: boolean
  /** Files or folders relative to the project; all of it if left out. */
  readonly paths?: readonly string[]
  /** Files that the person (`you`) has changed since stay as they are. */
  readonly keepMine?: boolean
  readonly dryRun?: boolean
  /** The conversation of a coding agent that you take back too. The result of an undo of this rewind has it again. */
  readonly conversation?: { readonly agent: string; readonly session: string }
}

export type DropInput = {
  readonly refs: readonly string[]
  /** The session in which the references are looked up. */
  readonly of?: string
  readonly dryRun?: boolean
}

export type DiffInput = {
  readonly from: string
  readonly to?: string
  readonly paths?: readonly string[]
  readonly patch?: 'none' | 'full' | 'stat'
  readonly color?: boolean
  readonly width?: number
}
