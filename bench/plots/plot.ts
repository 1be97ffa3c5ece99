/** Plots figures as SVG: logarithmic axes, one line per series, with its name at the end. */
import type { Series } from './cost-by-size.js'

const WIDTH = 760
const HEIGHT = 430
const LEFT = 70
const RIGHT = 200
const TOP = 50
const BOTTOM = 55
const COLOURS = ['#0b7a3e', '#58b368', '#b3541e', '#7a4bb3', '#2b6cb0', '#8a8a8a']

export function plot(
  series: readonly Series[],
  { title, axis }: { readonly title: string; readonly axis: string },
): string {
  const all = series.flatMap(({ points }) => points)
  const across = scaleOf(
    all.map(([count]) => count),
    { from: LEFT, to: WIDTH - RIGHT },
  )
  const up = scaleOf(
    all.map(([, ms]) => ms),
    { from: HEIGHT - BOTTOM, to: TOP },
  )
  const lines = series.map((each, index) => lineOf(each, { across, up, colour: colourOf(index) }))
  const labels = series.map((each, index) => labelOf(each, { series, up, colour: colourOf(index) }))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="24" font-size="15" fill="#222">${title}</text>`,
    ...across.ticks.map(
      (value) =>
        `<line x1="${across.at(value)}" x2="${across.at(value)}" y1="${TOP}" y2="${HEIGHT - BOTTOM}" stroke="#e5e5e5"/>` +
        `<text x="${across.at(value)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle" fill="#444">${short(value)}</text>`,
    ),
    ...up.ticks.map(
      (value) =>
        `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${up.at(value)}" y2="${up.at(value)}" stroke="#e5e5e5"/>` +
        `<text x="${LEFT - 8}" y="${up.at(value) + 4}" text-anchor="end" fill="#444">${short(value)} ms</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 14}" text-anchor="middle" fill="#444">${axis}</text>`,
    ...lines,
    ...labels,
    '</svg>',
    '',
  ].join('\n')
}

interface Scale {
  readonly ticks: readonly number[]
  at(value: number): number
}

/** Powers of ten around the smallest and the largest value. */
function scaleOf(values: readonly number[], { from, to }: { from: number; to: number }): Scale {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.ceil(Math.log10(Math.max(...values)))
  const ticks = Array.from({ length: high - low + 1 }, (_, power) => 10 ** (low + power))
  const at = (value: number) =>
    Math.round((from + ((Math.log10(value) - low) / (high - low)) * (to - from)) * 10) / 10
  return { ticks, at }
}

function lineOf(
  { points }: Series,
  { across, up, colour }: { across: Scale; up: Scale; colour: string },
): string {
  const places = points.map(([count, ms]) => `${across.at(count)},${up.at(ms)}`)
  const dots = points.map(
    ([count, ms]) => `<circle cx="${across.at(count)}" cy="${up.at(ms)}" r="3" fill="${colour}"/>`,
  )
  return `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`
}

/** At the end of its line; names of lines that end close together are stacked. */
function labelOf(
  own: Series,
  { series, up, colour }: { series: readonly Series[]; up: Scale; colour: string },
): string {
  const endOf = ({ points }: Series) => points.at(-1)?.[1] ?? 1
  const sorted = series.toSorted((a, b) => endOf(b) - endOf(a))
  let y = 0
  for (const each of sorted) {
    y = Math.max(y + 15, up.at(endOf(each)) + 4)
    if (each === own) break
  }
  return `<text x="${WIDTH - RIGHT + 12}" y="${y}" fill="${colour}">${own.name} ${figure(endOf(own))}</text>`
}

function figure(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(ms < 100 ? 1 : 0)} ms`
}

function short(value: number): string {
  return value >= 1000 ? `${value / 1000}k` : String(value)
}

function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length] ?? '#000000'
}
