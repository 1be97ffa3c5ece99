// The messages from the hosts of the shared torture to the model.

/** A checkpoint that was acknowledged: PostgreSQL has committed it. */
export type Acknowledged = {
  readonly session: string
  readonly id: string
  readonly step: number
  /** A hash of the state. */
  readonly digest: string
  /** The folder as it was saved; undefined if the checkpoint has no files. */
  readonly lines: readonly string[] | undefined
}

export type ToModel =
  | { readonly kind: 'acknowledged'; readonly checkpoint: Acknowledged }
  | { readonly kind: 'effect'; readonly session: string; readonly call: string }
  | { readonly kind: 'done'; readonly what: string }
  | { readonly kind: 'fault'; readonly what: string; readonly message: string }

export type HostAssignment = {
  readonly sdk: string
  readonly home: string
  readonly folder: string
  /** The URL of a proxy in front of the server. */
  readonly remote: string
  readonly sessions: readonly string[]
  readonly seed: number
  /** How far the clock of this host is off. */
  readonly clockOffsetMs: number
}
