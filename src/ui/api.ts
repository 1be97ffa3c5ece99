// The requests of the page and their answers. The server (src/ui) and the browser (ui/) both import this file, which has types and
// no code. A request is `POST /api/<method>` with the input as JSON; dates are ISO text in answers. docs/internals/ui.md.
import type { ConversationItem } from '../agents/index.js'
import type {
  CheckpointDetails,
  CheckpointView,
  DiffResult,
  FilePatch,
  FolderListing,
  HistoryResult,
  HunkChoice,
  NotRestored,
  OutsideEffect,
  PruneResult,
  SearchResult,
  SessionListItem,
  SessionView,
  StatusResult,
  UndoStepsOptions,
  VerifyResult,
} from '../internal.js'

/** A value as JSON delivers it. */
export type Wire<Value> = Value extends Date
  ? string
  : Value extends readonly (infer Item)[]
    ? readonly Wire<Item>[]
    : Value extends object
      ? { readonly [Key in keyof Value]: Wire<Value[Key]> }
      : Value

/** A checkpoint as the timeline shows it. */
export type Row = Wire<CheckpointView>

/** The answer to every request that fails, with an HTTP status of 400 or more. */
export type Failure = {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly hint: string | null
  }
}

type InProject = {
  /** The path of the project, one of `Start.projects`. */
  readonly project: string
}
/** `ref`: the id of a checkpoint. */
type AtCheckpoint = InProject & { readonly ref: string }

/** Which two versions to compare. */
export type Range = AtCheckpoint &
  (
    | { readonly with: 'previous' } // what the checkpoint itself changed
    | { readonly with: 'now' } // what changed since then
    | { readonly with: 'checkpoint'; readonly to: string }
  )

export type Api = {
  /** Everything that the first view needs, in one answer. */
  readonly start: (input: { readonly project?: string }) => Start
  /** Newest first; `before` is the id of the last row of the page before. */
  readonly rows: (
    input: InProject & {
      readonly before?: string
      readonly limit: number
      readonly session?: string
    },
  ) => { readonly rows: readonly Row[]; readonly hasMore: boolean }
  /** How the folder compares with the newest checkpoint, and what can be undone. Scans the folder. */
  readonly here: (input: InProject) => Here
  readonly checkpoint: (input: AtCheckpoint) => Wire<CheckpointDetails>
  /** The changed files with their authors, without patches. */
  readonly changes: (input: Range) => Wire<DiffResult>
  /** One file of a comparison. */
  readonly patch: (input: Range & { readonly path: string; readonly context?: number }) => FilePatch
  /** One folder of a checkpoint. `path` '' is the project. */
  readonly folder: (input: AtCheckpoint & { readonly path: string }) => Wire<FolderListing>
  readonly sessions: (input: InProject) => { readonly sessions: readonly Wire<SessionListItem>[] }
  readonly session: (input: { readonly session: string }) => SessionPage
  /** `SessionPage.transcriptBytes` as it is now. */
  readonly transcriptBytes: (input: { readonly session: string }) => {
    readonly bytes: number | null
  }
  readonly items: (input: SessionPoint & { readonly from: number; readonly limit: number }) => {
    readonly items: readonly ConversationItem[]
    readonly total: number
  }
  /** The rest of a text that was cut: up to 64 kB from `offset` on. */
  readonly more: (
    input: SessionPoint & {
      readonly index: number
      readonly part: number
      readonly offset: number
    },
  ) => { readonly text: string; readonly restLength: number }
  /** Makes a plan and changes nothing. */
  readonly plan: (input: PlanInput) => Plan
  /** Carries out exactly the plan of the token, or fails with PLAN_STALE. */
  readonly apply: (input: {
    readonly token: string
    /** The paths to restore; all of the plan if left out. */
    readonly paths?: readonly string[]
  }) => Applied
  readonly name: (input: AtCheckpoint & { readonly name: string | null }) => Row
  readonly pin: (input: AtCheckpoint & { readonly pinned: boolean }) => Row
  /** A new session that begins at the checkpoint, or for a coding agent the command that continues a copy of the conversation. */
  readonly fork: (input: AtCheckpoint & { readonly session?: string }) => {
    readonly session: string | null
    readonly command: string | null
  }
  readonly history: (
    input: InProject & {
      readonly path: string
      readonly limit: number
      /** The id of the last version of the page before. */
      readonly before?: string
    },
  ) => Wire<HistoryResult>
  readonly search: (
    input: InProject & { readonly words: string; readonly limit: number },
  ) => Wire<SearchResult>
  readonly store: (input: Readonly<Record<string, never>>) => StorePage
  /** The plan of a prune with these limits. Removes nothing. */
  readonly prunePreview: (input: {
    readonly maxSizeMb?: number
    readonly retentionDays?: number
  }) => { readonly result: Wire<PruneResult>; readonly command: string }
  readonly verify: (input: { readonly quick: boolean }) => Wire<VerifyResult>
}
export type Method = keyof Api
export type Input<Name extends Method> = Parameters<Api[Name]>[0]
export type Output<Name extends Method> = ReturnType<Api[Name]>

/** Methods that change something. They are refused with `--read-only`. */
export type ChangingMethod = 'apply' | 'name' | 'pin' | 'fork'

export type Start = {
  readonly version: string
  readonly isReadOnly: boolean
  /** The page is a file made by `--export`: it has only what is in it. */
  readonly isExport: boolean
  readonly projects: readonly ProjectItem[]
  /** The path of the shown project; null if the store has none. */
  readonly project: string | null
  readonly total: number
  /** The newest 200. */
  readonly rows: readonly Row[]
  readonly hasMore: boolean
  /** For the page of an empty project: agents whose hooks are installed. Empty for every other project. */
  readonly hookedAgents: readonly string[]
}

export type ProjectItem = {
  readonly path: string
  readonly checkpoints: number
  /** The folder does not exist any more. */
  readonly isMissing: boolean
  readonly lastAt: string | null
}

export type Here = {
  /** The newest checkpoint with files. */
  readonly newest: string | null
  /** The folder compared with it. */
  readonly changed: {
    readonly files: number
    readonly insertions: number
    readonly deletions: number
  }
  readonly undo: Reversal | null
  readonly redo: Reversal | null
}
/** A rewind that can be undone, or an undone one that can be repeated. */
export type Reversal = { readonly rewoundAt: string; readonly to: Row | null }

/** A point of a conversation: the end of the session, or the given checkpoint. `reveal` shows masked secrets. */
export type SessionPoint = {
  readonly session: string
  readonly ref?: string
  readonly reveal?: boolean
  /** The conversation of the subagent that this tool call started, instead of the session's own. */
  readonly call?: string
  /** With `call`: the id of the subagent, if an item has it. */
  readonly agent?: string
}

export type SessionPage = {
  readonly session: Wire<SessionView>
  /** The number of items of the conversation; 0 if there is none. */
  readonly total: number
  /** Why the conversation cannot be shown, such as a missing key; null if it can. */
  readonly problem: string | null
  /** The size of the agent's own transcript when its end was read; null if there is none. It grows between checkpoints. */
  readonly transcriptBytes: number | null
  /** Oldest first. `items`: how long the conversation was then; null if it had none. */
  readonly checkpoints: readonly (Row & { readonly items: number | null })[]
}

export type Restored = 'files' | 'conversation' | 'both'
/** Decides paths that cannot be merged. */
export type ConflictChoice = NonNullable<UndoStepsOptions['conflict']>
export type PlanInput = InProject &
  (
    | {
        readonly kind: 'rewind'
        readonly ref: string
        /** To just before the call that the checkpoint names. */
        readonly before?: boolean
        readonly restore: Restored
        readonly keepMine?: boolean
        /** Takes back only these changes. For files alone, and without `keepMine`. */
        readonly hunks?: readonly HunkChoice[]
      }
    /** Takes back what one checkpoint changed, and keeps everything later. */
    | {
        readonly kind: 'undoStep'
        readonly ref: string
        readonly conflict?: ConflictChoice
      }
    | { readonly kind: 'undo' }
    | { readonly kind: 'redo' }
  )

export type PlanAction = 'write' | 'restore' | 'remove' | 'keep' | 'conflict'
export type PlanLine = {
  /** `restore`: a file that is missing comes back. `keep` and `conflict` are not changed. */
  readonly action: PlanAction
  readonly path: string
  readonly reason: string | null
  /** The author of the changes since: `you`, an agent, or several joined by `+`. */
  readonly author: string | null
}
export type Plan = {
  /** Single-use; null if nothing can be applied: a read-only page, a conflict that cannot be left out, or nothing to do. */
  readonly token: string | null
  readonly kind: PlanInput['kind']
  readonly restore: Restored
  readonly target: Row | null
  /**
   * The checkpoint that the files will be as in: for an undo, the safety checkpoint of the rewind; for an undone step, the step.
   * Null if no file changes.
   */
  readonly goal: string | null
  /** For undo and redo: when the rewind was made. */
  readonly rewoundAt: string | null
  readonly lines: readonly PlanLine[]
  /** Whether single paths can be left out: only for a rewind of whole files. */
  readonly canSelect: boolean
  /** Changes of tool calls since the target that no checkpoint holds. */
  readonly notRestored: readonly Wire<NotRestored>[]
  /** Commands since the target that probably changed something outside the folder. */
  readonly outside: readonly Wire<OutsideEffect>[]
  /** Why a way back is not possible here; null if it is. */
  readonly unavailable: { readonly files: string | null; readonly conversation: string | null }
  /** The effect on the conversation, as a sentence; null if there is none. */
  readonly conversation: string | null
  /** An agent works in the project now, by the name of its session. */
  readonly runningSession: string | null
  /** The same as a command for the terminal. */
  readonly command: string
  readonly madeAt: string
}
export type Applied = {
  readonly restore: Restored
  readonly written: number
  readonly removed: number
  /** The checkpoint of the folder before; null if no file was changed. */
  readonly safety: string | null
  /** The command that continues the conversation; null if there is none. */
  readonly command: string | null
  /** `Here.undo.rewoundAt` while an undo takes this back; null if there is nothing to undo. */
  readonly rewoundAt: string | null
}

export type StorePage = {
  readonly home: string
  readonly status: Wire<StatusResult>
  readonly daemon: { readonly running: boolean; readonly pid: number | null }
  readonly agents: readonly {
    readonly agent: string
    readonly installed: boolean
    /** A problem of its hooks; null if there is none. */
    readonly problem: string | null
  }[]
}

/** A line of `GET /api/events`. */
export type PageEvent = { readonly type: 'changed' } | { readonly type: 'alive' }
