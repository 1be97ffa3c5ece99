// Permission bits. Git stores only the executable bit; a blob beside the files stores the rest: the most common mode of each
// class (plain file, executable file, folder), then every path with a different mode.
//
//   savestate-modes 1\n
//   file 644\n  executable 755\n  folder 755\n
//   600 path\0 …        sorted; raw bytes; a folder ends with a slash, the project itself is a lone one
//
// Imports from systems that kept only git's bit say `savestate-modes 1 assumed` and have no list.
import { type BytePath, SavestateError } from '../../model/index.js'

export const MODE_CLASSES = ['file', 'executable', 'folder'] as const
export type ModeClass = (typeof MODE_CLASSES)[number]

export type ModeTable = {
  readonly usual: Readonly<Record<ModeClass, number>>
  /** By `modeKey`. */
  readonly unusual: ReadonlyMap<string, number>
  /** The modes were not recorded: an existing path keeps its mode. */
  readonly isAssumed: boolean
}

const FIRST_LINE = 'savestate-modes 1'

/** The modes that git would use. */
export const ASSUMED_MODES: ModeTable = {
  usual: { file: 0o644, executable: 0o755, folder: 0o755 },
  unusual: new Map(),
  isAssumed: true,
}

export function modeClassOf(type: 'file' | 'folder', mode: number): ModeClass {
  if (type === 'folder') return 'folder'
  return (mode & 0o100) === 0 ? 'file' : 'executable'
}

export function modeOf(table: ModeTable, path: BytePath, modeClass: ModeClass): number {
  return table.unusual.get(modeKey(path, modeClass)) ?? table.usual[modeClass]
}

export function modeKey(path: BytePath, modeClass: ModeClass): string {
  return modeClass === 'folder' ? `${path}/` : path
}

/** The paths whose mode may differ between two tables even if their content is equal. */
export function unusualPaths(table: ModeTable): BytePath[] {
  return [...table.unusual.keys()].map(
    (key) => (key.endsWith('/') ? key.slice(0, -1) : key) as BytePath,
  )
}

export function isSameUsual(a: ModeTable, b: ModeTable): boolean {
  return MODE_CLASSES.every((name) => a.usual[name] === b.usual[name])
}

export type Usual = ModeTable['usual']

/** Pass 1 counts modes to find the most common one; pass 2 lists the exceptions. */
export function tabulateModes(asked: {
  count(add: (modeClass: ModeClass, mode: number, count: number) => void): void
  unusual(usual: Usual, found: (modeClass: ModeClass, mode: number, path: BytePath) => void): void
}): ModeTable {
  const counts = {
    file: new Map<number, number>(),
    executable: new Map<number, number>(),
    folder: new Map<number, number>(),
  }
  asked.count((modeClass, mode, count) =>
    counts[modeClass].set(mode, (counts[modeClass].get(mode) ?? 0) + count),
  )
  const usual = {
    file: mostCommon(counts.file, 0o644),
    executable: mostCommon(counts.executable, 0o755),
    folder: mostCommon(counts.folder, 0o755),
  }
  const unusual = new Map<string, number>()
  asked.unusual(usual, (modeClass, mode, path) => unusual.set(modeKey(path, modeClass), mode))
  return { usual, unusual, isAssumed: false }
}

export function encodeModes({ usual, unusual, isAssumed }: ModeTable): Buffer {
  const first = isAssumed ? `${FIRST_LINE} assumed` : FIRST_LINE
  const head = [first, ...MODE_CLASSES.map((name) => `${name} ${usual[name].toString(8)}`)]
  const body = [...unusual]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, mode]) => `${mode.toString(8)} ${path}\0`)
  return Buffer.from(`${head.join('\n')}\n${body.join('')}`, 'latin1')
}

export function decodeModes(bytes: Buffer): ModeTable {
  const text = bytes.toString('latin1')
  const head =
    /^savestate-modes 1(?: assumed)?\nfile ([0-7]+)\nexecutable ([0-7]+)\nfolder ([0-7]+)\n/.exec(
      text,
    )
  if (head === null) {
    throw new SavestateError(
      'STORE_DAMAGED',
      'The permissions of a snapshot are stored in an unknown format',
      { hint: 'Update Savestate. If it is up to date, run `savestate verify`.' },
    )
  }
  const unusual = new Map<string, number>()
  for (const line of text.slice(head[0].length).split('\0')) {
    if (line === '') continue
    const blank = line.indexOf(' ')
    unusual.set(line.slice(blank + 1), Number.parseInt(line.slice(0, blank), 8))
  }
  const [, file, executable, folder] = head.map((digits) => Number.parseInt(digits, 8))
  return {
    usual: { file: file ?? 0o644, executable: executable ?? 0o755, folder: folder ?? 0o755 },
    unusual,
    isAssumed: head[0].startsWith(`${FIRST_LINE} assumed`),
  }
}

function mostCommon(counts: ReadonlyMap<number, number>, otherwise: number): number {
  let best = otherwise
  let most = 0
  for (const [mode, count] of counts) {
    if (count > most || (count === most && mode < best)) {
      best = mode
      most = count
    }
  }
  return best
}
