/** Runs contestants in turn and takes the median of their times. */
import process from 'node:process'
import { run } from './programs.js'

export interface Contestant {
  readonly name: string
  /** Runs once and returns the milliseconds. */
  readonly time: () => Promise<number>
}

export interface Rounds {
  readonly contestants: readonly Contestant[]
  readonly count: number
  /** Warm-up rounds, which are not counted. */
  readonly warmUps: number
  /** Prepares a round for all contestants, for example changes one file. */
  readonly before: (round: number) => Promise<void> | void
}

/** The median milliseconds of each contestant, by name. */
export type Medians = ReadonlyMap<string, number>

/**
 * All contestants run in every round, so that noise on the machine affects all equally, and a different one goes
 * first each time, so that no contestant always benefits from caches that another has filled.
 */
export async function runRounds({ contestants, count, warmUps, before }: Rounds): Promise<Medians> {
  const times = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round < warmUps + count; round += 1) {
    await before(round)
    for (const { name, time } of rotated(contestants, round)) {
      const ms = await time()
      if (round >= warmUps) times.get(name)?.push(ms)
    }
  }
  return new Map([...times].map(([name, values]) => [name, median(values)]))
}

/** Rotates the items. */
export function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  if (upper === undefined || lower === undefined) throw new Error('No values to take a median of')
  return (lower + upper) / 2
}

/** The given quantile. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
  if (value === undefined) throw new Error('No values to take a quantile of')
  return value
}

/** One of several figures. Throws if it is missing. */
export function figureOf(figures: Medians, name: string): number {
  const figure = figures.get(name)
  if (figure === undefined) throw new Error(`No figure for ${name}`)
  return figure
}

/** The smallest of several figures, and its name. */
export function smallest(figures: Medians): { readonly name: string; readonly figure: number } {
  const [first, ...rest] = figures
  if (first === undefined) throw new Error('Nothing to compare with')
  const [name, figure] = rest.reduce((best, next) => (next[1] < best[1] ? next : best), first)
  return { name, figure }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Flushes dirty pages of earlier steps, so that the next one does not pay for them. */
export async function flushDisk(): Promise<void> {
  if (process.platform !== 'win32') await run({ program: 'sync', args: [], cwd: '/' })
}
