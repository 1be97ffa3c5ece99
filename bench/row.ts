/** One line of the report: what is measured, against what, and how far it may go. */
import type { Bench } from './bench.js'
import { type Medians, smallest } from './measure.js'

export interface Row {
  readonly name: string
  /** Left out of `--quick` runs unless asked for by name. */
  readonly slow?: boolean
  measure(bench: Bench): Promise<Measured>
}

export interface Measured {
  readonly ours: number
  readonly peer: number
  /** The largest allowed `ours / peer`. */
  readonly limit: number
  readonly unit: 'ms' | 'MB'
  /** Whom we were measured against, and everyone else's figures. */
  readonly detail: string
}

/** Ours against the fastest of the others. */
export function against(
  medians: Medians,
  { ours, limit }: { ours: string; limit: number },
): Measured {
  const figure = medians.get(ours)
  if (figure === undefined) throw new Error(`No figure for ${ours}`)
  const others = new Map([...medians].filter(([name]) => name !== ours))
  const best = smallest(others)
  const all = [...others].map(([name, ms]) => `${name} ${Math.round(ms)}`)
  return {
    ours: figure,
    peer: best.figure,
    limit,
    unit: 'ms',
    detail: `fastest peer ${best.name} (${all.join(', ')})`,
  }
}

export const MEGABYTE = 1_000_000
