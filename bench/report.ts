/** The report: JSON for programs, or a table for people, with a description of the machine. */
import { cpus, totalmem } from 'node:os'
import process from 'node:process'
import { git } from './peers/git.js'
import type { Measured } from './row.js'

export interface Result extends Measured {
  readonly name: string
}

export function asJson(results: readonly Result[]): string {
  const rows = results.map(({ name, ours, peer, limit }) => ({
    name,
    ours: rounded(ours),
    peer: rounded(peer),
    ratio: rounded(ours / peer),
    limit,
    ok: isWithin({ ours, peer, limit }),
  }))
  return JSON.stringify(rows, undefined, 2)
}

function isWithin({ ours, peer, limit }: Pick<Measured, 'ours' | 'peer' | 'limit'>): boolean {
  return ours / peer <= limit
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000
}

export async function asTable(results: readonly Result[]): Promise<string> {
  const heads = ['what', 'ours', 'peer', 'ratio', 'limit', '', 'detail']
  const lines = results.map((result) => [
    result.name,
    figure(result.ours, result.unit),
    figure(result.peer, result.unit),
    (result.ours / result.peer).toFixed(2),
    result.limit.toFixed(2),
    isWithin(result) ? 'ok' : 'OVER',
    result.detail,
  ])
  return `${await machine()}\n\n${aligned([heads, ...lines])}`
}

function figure(value: number, unit: Measured['unit']): string {
  if (unit !== 'ms') return `${value.toFixed(1)} ${unit}`
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ms`
}

const RIGHT_ALIGNED = new Set([1, 2, 3, 4])

function aligned(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  )
  const padded = (cell: string, column: number): string => {
    const width = widths[column] ?? 0
    return RIGHT_ALIGNED.has(column) ? cell.padStart(width) : cell.padEnd(width)
  }
  return lines.map((cells) => cells.map(padded).join('  ').trimEnd()).join('\n')
}

async function machine(): Promise<string> {
  const processors = cpus()
  const model = processors[0]?.model.trim() ?? 'unknown processor'
  const version = await git(['--version'], { cwd: process.cwd() })
  const gigabytes = Math.round(totalmem() / 1e9)
  return `${model}, ${processors.length} cores, ${gigabytes} GB · node ${process.version} · ${version}`
}
