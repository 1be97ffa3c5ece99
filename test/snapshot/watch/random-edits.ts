// Random edits of a project, for the suites that compare watched saves with full scans.
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import fc from 'fast-check'
import { GIT_ENVIRONMENT } from '../../support/scratch.js'

/** One character per byte: the last but one is not UTF-8. */
const NAMES: readonly string[] = ['a', 'b', 'c', 'd', 'e.log', '.gitignore', '\xff\xfe', 'project']
const CROWD = 60

type Pick = { readonly depth: number; readonly turn: number }
export type Act = { readonly kind: keyof typeof KINDS; readonly at: Pick; readonly to: Pick }

/** A path that may exist, another path, and text to write. */
type Now = {
  readonly root: string
  readonly path: string
  readonly stats: Stats | undefined
  readonly other: string
  readonly turn: number
  readonly text: string
}

const KINDS = {
  write: ({ path, stats, text }: Now) => canWrite(stats) && writeFileSync(bytes(path), text),
  append: ({ path, stats, text }: Now) => stats?.isFile() && appendFileSync(bytes(path), text),
  truncate: ({ path, stats, turn }: Now) => stats?.isFile() && truncateSync(bytes(path), turn % 5),
  replace({ path, stats, text }: Now) {
    writeFileSync(bytes(`${path}.new`), text)
    if (stats?.isDirectory() === true) remove(path)
    renameSync(bytes(`${path}.new`), bytes(path))
  },
  remove: ({ path }: Now) => remove(path),
  folder: ({ path, stats }: Now) => stats === undefined && mkdirSync(bytes(path)),
  move: ({ path, other, stats }: Now) => stats !== undefined && move(path, other),
  'away and back'({ root, path, stats }: Now) {
    if (stats === undefined) return
    renameSync(bytes(path), bytes(`${root}-away`))
    renameSync(bytes(`${root}-away`), bytes(path))
  },
  link: ({ path, stats, text }: Now) =>
    stats === undefined && symlinkSync(text.trim(), bytes(path)),
  mode({ path, stats, turn }: Now) {
    if (stats === undefined || stats.isSymbolicLink()) return
    chmodSync(bytes(path), stats.isDirectory() ? 0o700 | (turn & 0o55) : 0o600 | (turn & 0o177))
  },
  times: ({ path, stats, turn }: Now) => stats?.isFile() && utimesSync(bytes(path), turn, turn),
  'hard link': (now: Now) => canLink(now) && linkSync(bytes(now.path), bytes(now.other)),
  'write through another name'(now: Now) {
    if (!canLink(now)) return
    linkSync(bytes(now.path), bytes(now.other))
    appendFileSync(bytes(now.other), now.text)
  },
  'again at once'({ path, turn, text }: Now) {
    remove(path)
    mkdirSync(bytes(path))
    writeFileSync(bytes(`${path}/a`), text)
    remove(path)
    if (turn % 2 === 0) mkdirSync(bytes(`${path}/a/b`), { recursive: true })
    else writeFileSync(bytes(path), text)
  },
  deep({ path, text }: Now) {
    remove(path)
    mkdirSync(bytes(`${path}/a/b/c/d`), { recursive: true })
    writeFileSync(bytes(`${path}/a/b/c/d/e`), text)
  },
  /** Moves a folder with many files. */
  crowd({ root, path, other, turn, text }: Now) {
    remove(path)
    mkdirSync(bytes(`${path}/b`), { recursive: true })
    for (let i = 0; i < CROWD; i++) writeFileSync(bytes(`${path}/${i % 2 ? 'b/' : ''}${i}`), text)
    if (turn % 3 === 0) return
    renameSync(bytes(path), bytes(`${root}-away`))
    if (turn % 3 === 1 || other.startsWith(path)) renameSync(bytes(`${root}-away`), bytes(path))
    else move(`${root}-away`, other)
  },
  'same name inside'({ path, text }: Now) {
    remove(path)
    const name = path.slice(path.lastIndexOf('/') + 1)
    mkdirSync(bytes(`${path}/${name}`), { recursive: true })
    writeFileSync(bytes(`${path}/${name}/${name}`), text)
  },
  ignore: ({ path, stats }: Now) =>
    canWrite(stats) && writeFileSync(bytes(path), '*.log\nc/\n!c/a\n'),
  'ignore file'({ path, stats, turn }: Now) {
    const folder = stats?.isDirectory() === true ? path : path.slice(0, path.lastIndexOf('/'))
    const file = `${folder}/${turn % 4 === 0 ? '.savestateignore' : '.gitignore'}`
    if (canWrite(statsOf(file))) writeFileSync(bytes(file), `${NAMES[turn % 5]}\n`)
  },
  repository({ path, stats }: Now) {
    if (stats?.isDirectory() !== true) return
    if (statsOf(`${path}/.git`) === undefined) git(path, 'init', '-q')
    else remove(`${path}/.git`)
  },
  track: ({ path, stats }: Now) => stats !== undefined && git(parentOf(path), 'add', '-f', path),
  untrack: ({ path, stats }: Now) =>
    stats !== undefined && git(parentOf(path), 'rm', '-rfq', '--cached', path),
  exclude({ path, stats, turn }: Now) {
    if (stats?.isDirectory() !== true || statsOf(`${path}/.git/info`) === undefined) return
    writeFileSync(bytes(`${path}/.git/info/exclude`), `${NAMES[turn % 5]}\n`)
  },
}

/**
 * A write through a hard link that is not captured, or is removed before the save, gives no event (docs/reference/limits.md). So these
 * come last, and never together with those below.
 */
const LINKING: readonly string[] = ['hard link', 'write through another name']
/** These change what is captured, so a rewind may have to skip paths. */
const DECIDING: readonly string[] = [
  'ignore',
  'ignore file',
  'repository',
  'track',
  'untrack',
  'exclude',
]

const pick = fc.record({ depth: fc.nat(3), turn: fc.nat(1000) })
const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...(Object.keys(KINDS) as Act['kind'][])),
  at: pick,
  to: pick,
})

/** The edits between two saves, including changes of what is captured. */
export const series = fc
  .array(act, { minLength: 1, maxLength: 25 })
  .map((acts) => acts.filter(({ kind }) => !LINKING.includes(kind)))

/** The same for a project in which everything is captured, with hard links. */
export const plainSeries = fc
  .array(act, { minLength: 1, maxLength: 25 })
  .map((acts) => [
    ...acts.filter(({ kind }) => !LINKING.includes(kind) && !DECIDING.includes(kind)),
    ...acts.filter(({ kind }) => LINKING.includes(kind)),
  ])

export function perform(root: string, { kind, at, to }: Act): void {
  const path = pathOf(root, at)
  KINDS[kind]({
    root,
    path,
    stats: statsOf(path),
    other: pathOf(root, to),
    turn: to.turn,
    text: `${kind} ${at.turn} ${to.turn}\n`,
  })
}

/** A path that may or may not exist. */
function pathOf(root: string, { depth, turn }: Pick): string {
  let path = root
  for (let i = 0; i <= depth; i++) {
    path = `${path}/${NAMES[(turn + i * 7 + (turn >> i)) % NAMES.length]}`
    if (statsOf(path)?.isDirectory() !== true) break
  }
  return path
}

function move(path: string, other: string): void {
  if (other.startsWith(path) || path.startsWith(other)) return
  remove(other)
  renameSync(bytes(path), bytes(other))
}

function statsOf(path: string): Stats | undefined {
  return lstatSync(bytes(path), { throwIfNoEntry: false })
}

function canWrite(stats: Stats | undefined): boolean {
  return stats === undefined || stats.isFile()
}

/** Logs are excluded by default. */
function canLink({ path, stats, other }: Now): boolean {
  const isCaptured = !path.includes('.log') && !other.includes('.log')
  return isCaptured && stats?.isFile() === true && statsOf(other) === undefined
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

function bytes(path: string): Buffer {
  return Buffer.from(path, 'latin1')
}

/** `rmSync` does not remove the contents of a folder whose name is not UTF-8. */
function remove(path: string): void {
  const stats = statsOf(path)
  if (stats === undefined) return
  if (!stats.isDirectory()) return rmSync(bytes(path))
  for (const name of readdirSync(bytes(path), { encoding: 'latin1' })) remove(`${path}/${name}`)
  rmSync(bytes(path), { recursive: true })
}

/** Runs git and ignores failures: not every path is in a repository or can be added. */
export function git(folder: string, ...args: readonly string[]): void {
  // A name that is not UTF-8 cannot be passed as text.
  const names = args.map((each) => (each.startsWith(`${folder}/`) ? '.' : each))
  if (/[\x80-\xff]/.test(folder)) return
  spawnSync('git', [...names], { cwd: folder, env: GIT_ENVIRONMENT })
}
