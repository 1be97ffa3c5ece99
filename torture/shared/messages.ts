// The entries that the processes of the shared torture write into the record, and the input they are started with.

/** One item of the list `messages` of a state. */
export type Message = {
  /** Its index. */
  readonly n: number
  /** Unique in the whole run. */
  readonly token: string
  /** The token of the message before it; null for the first one. */
  readonly after: string | null
  readonly text: string
}

export type State = { messages: Message[] }

/** A checkpoint that was acknowledged: PostgreSQL has committed it. */
export type Acknowledged = {
  readonly session: string
  readonly id: string
  readonly step: number
  /** The last message of its state, as its writer wrote it; null if there is none. */
  readonly last: Omit<Message, 'text'> | null
  /** The folder as it was saved; null if the checkpoint has no files. */
  readonly lines: readonly string[] | null
}

type Value = string | null

export type Event =
  | ({ readonly kind: 'saved' } & Acknowledged)
  /** NOT_SHARED: the store of this host has the message, and sends it later. */
  | { readonly kind: 'kept'; readonly session: string; readonly token: string }
  /** Written before the prune: all of these may be gone from now on. */
  | { readonly kind: 'pruning'; readonly session: string; readonly ids: readonly string[] }
  /** The tool ran. */
  | { readonly kind: 'effect'; readonly call: string; readonly value: string }
  /** This process may run the call again. */
  | { readonly kind: 'retrying'; readonly call: string }
  /** Written before this resolution: the call may return this value from now on. */
  | { readonly kind: 'resolving'; readonly call: string; readonly value: Value }
  | { readonly kind: 'returned'; readonly call: string; readonly value: Value }
  /** A unit of work that has ended, with its error code if it had one. */
  | { readonly kind: 'done'; readonly what: string }
  | { readonly kind: 'fault'; readonly what: string; readonly message: string }

/** `process` is also the application_name of its connections. */
export type Entry = Event & { readonly process: string }

export type HostAssignment = {
  readonly sdk: string
  /** The number of the host, and of its process. */
  readonly slot: string
  readonly home: string
  readonly folder: string
  readonly record: string
  /** The URL of a proxy in front of the server. */
  readonly remote: string
  /** Null: the remote is plain. */
  readonly key: string | null
  readonly sessions: readonly string[]
  readonly seed: number
  /** How far the clock of this host is off. */
  readonly clockOffsetMs: number
}
