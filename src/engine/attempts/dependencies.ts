// Ignored folders of dependencies, such as node_modules, which no checkpoint contains. They are linked or copied from the project on
// request, so that commands work in an opened checkpoint.
import { constants, lstatSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import {
  type BytePath,
  bytePath,
  fsPath,
  joinPath,
  nameOf,
  ROOT,
  SavestateError,
} from '../../model/index.js'

export const DEPENDENCY_MODES = ['none', 'link', 'copy'] as const
export type DependencyMode = (typeof DEPENDENCY_MODES)[number]

/** Folders that package managers fill. Build results are not among them: they belong to one state of the sources. */
const NAMES = [
  'node_modules',
  'bower_components',
  'vendor',
  '.venv',
  'venv',
  'Pods',
  '.bundle',
  'elm-stuff',
] as BytePath[]
/** Caches in node_modules: a link would let a command write into the project. */
const CACHES = ['.cache', '.vite', '.vite-temp', '.vitest', '.parcel-cache']

/** `folders`: those of the checkpoint, which exist in `to`. Everything that the checkpoint contains itself stays as it is. */
export async function bringDependencies(
  mode: DependencyMode,
  { from, to, folders }: { from: BytePath; to: BytePath; folders: readonly BytePath[] },
): Promise<void> {
  if (mode === 'none') return
  const inFolders = [ROOT, ...folders].filter((folder) => !NAMES.includes(nameOf(folder)))
  for (const path of inFolders.flatMap((folder) => NAMES.map((name) => joinPath(folder, name)))) {
    const [source, target] = [joinPath(from, path), joinPath(to, path)]
    if (!isFolder(source) || exists(target)) continue
    if (mode === 'link') linkEntries(source, target)
    else await copyWhole(source, target)
  }
}

/**
 * Makes a folder with a link for each entry. A link for the whole folder would make writes into it writes into the project, and would
 * resolve the relative links of a workspace (node_modules/a → ../packages/a) to the project's present files.
 */
function linkEntries(source: BytePath, target: BytePath): void {
  mkdirSync(fsPath(target))
  for (const entry of readdirSync(fsPath(source), { encoding: 'latin1', withFileTypes: true })) {
    const name = entry.name as BytePath
    const [original, link] = [joinPath(source, name), joinPath(target, name)]
    if (CACHES.includes(name)) continue
    if (entry.isSymbolicLink())
      symlinkSync(readlinkSync(fsPath(original), { encoding: 'buffer' }), fsPath(link))
    // A scope of packages, and the folder of programs, contain links of their own.
    else if (entry.isDirectory() && (name.startsWith('@') || name === '.bin'))
      linkEntries(original, link)
    else symlinkSync(fsPath(original), fsPath(link))
  }
}

/** Shares the contents where the file system can. */
async function copyWhole(source: BytePath, target: BytePath): Promise<void> {
  await cp(textPath(source), textPath(target), {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    errorOnExist: true,
    force: false,
    mode: constants.COPYFILE_FICLONE,
  })
}

/** `cp` takes no bytes. */
function textPath(path: BytePath): string {
  const text = Buffer.from(path, 'latin1').toString('utf8')
  if (bytePath(text) === path) return text
  throw new SavestateError(
    'BAD_INPUT',
    'Dependencies in a folder whose name is not UTF-8 cannot be copied',
    {
      hint: 'Link them instead, or leave them out.',
    },
  )
}

function isFolder(path: BytePath): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false })?.isDirectory() === true
}

function exists(path: BytePath): boolean {
  return lstatSync(fsPath(path), { throwIfNoEntry: false }) !== undefined
}
