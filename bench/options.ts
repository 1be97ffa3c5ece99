/** The options of the benchmark. */
import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type TreeSource, treeName } from './bench.js'
import { SHAPES } from './trees/tree.js'

export interface Options {
  readonly json: boolean
  readonly quick: boolean
  readonly only: readonly string[]
  readonly trees: readonly TreeSource[]
  readonly work: string | undefined
  /** The file for the plot of costs by size; nothing else is measured then. */
  readonly plot: string | undefined
  /** The same for the plot of costs by step. */
  readonly plotSteps: string | undefined
}

export const USAGE =
  'npm run bench [-- [--json] [--quick] [--only NAME]... [--tree PATH]... [--work DIR] [--plot FILE.svg] [--plot-steps FILE.svg]]'

/** Throws for invalid arguments. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      tree: { type: 'string', multiple: true, default: [] },
      work: { type: 'string' },
      plot: { type: 'string' },
      'plot-steps': { type: 'string' },
    },
  })
  const trees = values.tree.map(parseTree)
  const names = [...Object.keys(SHAPES), ...trees.map(treeName)]
  if (new Set(names).size < names.length) throw new Error('Two trees have the same name')
  const { json, quick, only, work, plot, 'plot-steps': plotSteps } = values
  return { json, quick, only, work, plot, plotSteps, trees }
}

function parseTree(path: string): TreeSource {
  const copyOf = resolve(path)
  if (!statSync(copyOf).isDirectory()) throw new Error(`${copyOf} is not a folder`)
  return { copyOf, name: basename(copyOf) }
}
