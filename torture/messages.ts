// The messages between the processes under test and the model.
import type { Program } from './commands.js'

/** An acknowledged checkpoint, and the contents of the folder at that time. */
export type Known = {
  readonly id: string
  readonly lines: readonly string[]
  readonly isProtected: boolean
}

export type ToModel =
  | { readonly kind: 'want'; readonly project: string }
  | { readonly kind: 'release'; readonly project: string }
  | { readonly kind: 'saved'; readonly project: string; readonly known: Known }
  | { readonly kind: 'missing'; readonly project: string; readonly id: string }
  | { readonly kind: 'stepping'; readonly session: string; readonly step: number }
  | {
      readonly kind: 'stepped'
      readonly session: string
      readonly step: number
      readonly digest: string
    }
  | {
      readonly kind: 'resumed'
      readonly session: string
      readonly step: number
      readonly digest: string
    }
  | { readonly kind: 'done'; readonly what: string }
  | { readonly kind: 'memory'; readonly residentMb: number }
  | { readonly kind: 'fault'; readonly what: string; readonly message: string }

export type ToWorker =
  | { readonly kind: 'granted'; readonly project: string; readonly known: readonly Known[] }
  | { readonly kind: 'stop' }

export type Assignment = {
  readonly sdk: string
  readonly home: string
  readonly projects: readonly string[]
  readonly session: string
  readonly seed: number
  /** The projects are watched. */
  readonly watch: boolean
  /** Commands work on the projects, through the daemon. */
  readonly program: Program | undefined
}
