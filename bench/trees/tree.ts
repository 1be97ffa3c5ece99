/**
 * The folders under test: generated ones, the same in every run, and copies of real ones.
 *
 * A child process (see child.ts) creates them, so that the process which starts the peers stays
 * small: forking from a large process is slow, and would count against the peers.
 */
import { appendFileSync, cpSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Random, seededRandom } from './random.js'
import { sourceText, word } from './source-text.js'

export interface Shape {
  readonly files: number
  readonly folders: number
  /** The median of the file sizes, and the deviation of their logarithm. */
  readonly medianBytes: number
  readonly spread: number
}

export const SHAPES = {
  '1k': { files: 1_000, folders: 500, medianBytes: 3_150, spread: 1.1 },
  '2k': { files: 2_000, folders: 1_000, medianBytes: 3_150, spread: 1.1 },
  '5k': { files: 5_000, folders: 2_500, medianBytes: 3_150, spread: 1.1 },
  '23k': { files: 23_000, folders: 11_000, medianBytes: 3_150, spread: 1.1 },
  '100k': { files: 100_000, folders: 20_000, medianBytes: 500, spread: 0.4 },
  '200k': { files: 199_000, folders: 20_000, medianBytes: 120, spread: 0.4 },
} as const satisfies Record<string, Shape>

export type ShapeName = keyof typeof SHAPES

export interface TreeFacts {
  readonly files: number
  readonly folders: number
  readonly bytes: number
  /** Paths, in random order, of files that may be changed during a measurement. */
  readonly changeable: readonly string[]
}

const MIN_BYTES = 64
const MAX_BYTES = 200_000
const MAX_COPIED_BYTES = 10_000_000
const CHANGEABLE = 1_000

/** Fills an absent folder with sources. The same shape gives the same bytes, always. */
export function growTree(root: string, shape: Shape): TreeFacts {
  const random = seededRandom(shape.files)
  const folders = growFolders(root, { random, count: shape.folders })
  const paths: string[] = []
  let bytes = 0
  for (let number = 0; number < shape.files; number += 1) {
    // First one file per folder: git ignores empty folders, which would make the work unequal.
    const folder = folders[number] ?? random.pick(folders)
    const path = join(folder, `${word(random)}-${number.toString(36)}.${random.pick(ENDINGS)}`)
    const wanted = Math.round(shape.medianBytes * Math.exp(shape.spread * random.bell()))
    const sizeBytes = Math.min(MAX_BYTES, Math.max(MIN_BYTES, wanted))
    const text = sourceText(random, { number, sizeBytes })
    writeFileSync(path, text)
    paths.push(path)
    bytes += text.length
  }
  writeFileSync(join(root, '.gitignore'), '*.log\n/reports/\n*.local.json\n')
  return {
    files: paths.length + 1,
    folders: folders.length,
    bytes,
    changeable: shuffledSome(paths, random),
  }
}

const ENDINGS = ['ts', 'ts', 'ts', 'ts', 'tsx', 'js', 'css', 'md']

function growFolders(
  root: string,
  { random, count }: { random: Random; count: number },
): readonly string[] {
  mkdirSync(root)
  const folders = [root]
  while (folders.length < count) {
    // Squared, so that early folders get more children: wide at the top, six to twelve levels deep.
    const parent = folders[Math.floor(random.fraction() ** 2 * folders.length)] ?? root
    const folder = join(parent, `${word(random)}-${folders.length.toString(36)}`)
    mkdirSync(folder)
    folders.push(folder)
  }
  return folders
}

/**
 * Copies a real folder, without files that only one side would capture: repositories' own
 * `.git`, files over 10 MB, sockets and the like. The original is only read.
 */
export function copyTree(from: string, to: string): TreeFacts {
  let files = 0
  let folders = 0
  let bytes = 0
  cpSync(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    filter(source) {
      if (basename(source) === '.git') return false
      const stats = lstatSync(source)
      if (stats.isDirectory()) folders += 1
      if (stats.isDirectory()) return true
      if (stats.isSymbolicLink()) return true
      if (!stats.isFile() || stats.size > MAX_COPIED_BYTES) return false
      files += 1
      bytes += stats.size
      return true
    },
  })
  return { files, folders, bytes, changeable: [] }
}

/** The files of a folder that git tracks; a measurement may change them. */
export function changeableOf(root: string, listed: readonly string[]): readonly string[] {
  const usable = listed
    .filter((path) => !path.includes('\ufffd') && !path.endsWith('.gitignore'))
    .map((path) => join(root, path))
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false })
      return stats !== undefined && stats.isFile() && stats.size < 1_000_000
    })
  return shuffledSome(usable, seededRandom(usable.length))
}

function shuffledSome(paths: readonly string[], random: Random): readonly string[] {
  const left = [...paths]
  for (let end = left.length - 1; end > 0; end -= 1) {
    const other = random.below(end + 1)
    const path = left[end]
    const swapped = left[other]
    if (path === undefined || swapped === undefined) break
    left[end] = swapped
    left[other] = path
  }
  return left.slice(0, CHANGEABLE)
}

/** Changes one file in place, as an agent's edit does. */
export function changeFile(path: string, number: number): void {
  appendFileSync(path, `export const changed${number} = ${number * 7919}\n`)
}

/** The size of a folder on disk: in blocks where the platform reports them, otherwise in bytes. */
export function sizeOnDisk(folder: string): number {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      bytes += sizeOnDisk(path)
      continue
    }
    const stats = lstatSync(path)
    bytes += stats.blocks > 0 ? stats.blocks * 512 : stats.size
  }
  return bytes
}
