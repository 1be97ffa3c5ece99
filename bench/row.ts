/** One line of the report: the measurement, the comparison, and the limit. */
import type { Bench } from './bench.js'
import { figureOf, type Medians, smallest } from './measure.js'

export interface Row {
  readonly name: string
  /** Left out of `--quick` runs unless selected by name. */
  readonly slow?: boolean
  measure(bench: Bench): Promise<Measured>
}

export interface Measured {
  readonly ours: number
  readonly peer: number
  /** The largest allowed `ours / peer`. */
  readonly limit: number
  readonly unit: 'ms' | 'MB' | 'KB'
  /** The compared peer, and the figures of all others. */
  readonly detail: string
}

/** Compares ours with the fastest peer. */
export function against(
  medians: Medians,
  { ours, limit }: { ours: string; limit: number },
): Measured {
  const others = new Map([...medians].filter(([name]) => name !== ours))
  const best = smallest(others)
  const all = [...others].map(([name, ms]) => `${name} ${Math.round(ms)}`)
  return {
    ours: figureOf(medians, ours),
    peer: best.figure,
    limit,
    unit: 'ms',
    detail: `fastest peer ${best.name} (${all.join(', ')})`,
  }
}

/** Compares ours with a fixed limit. */
export function atMost(
  most: number,
  measured: Pick<Measured, 'ours' | 'unit' | 'detail'>,
): Measured {
  return { ...measured, peer: most, limit: 1 }
}

export const MEGABYTE = 1_000_000
export const KILOBYTE = 1_000
