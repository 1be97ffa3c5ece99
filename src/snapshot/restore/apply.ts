// Executes a restore plan. Each visible change is one rename, link, mkdir, rmdir or chmod, and all new content is on disk before
// the first of them. A file to be removed is moved aside (aside.ts); `settleAsides` removes it at the very end. Makes no
// decisions: a path that no longer matches the plan is left alone and reported.
//
// Order: new folders · staged contents · removals · folders replacing files · contents · modes · fsync
import { fchmodSync, fstatSync, lstatSync, mkdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs'
import {
  type BytePath,
  type Entry,
  hasCode,
  parentOf,
  type PlannedWrite,
  printablePath,
  type RestorePlan,
  SavestateError,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { absolute } from '../capture/capture-target.js'
import type { BlobReader } from '../git/blob-reader.js'
import { refuseHostilePath } from '../objects/safe-path.js'
import { type Aside, Asides, removedFolders } from './asides.js'
import { moveWithoutOverwriting } from './move-file.js'
import {
  firstFolderMode,
  modeUnder,
  type OwnerLookup,
  ownNewFolder,
  type PartialMode,
  setFileMode,
  setModeAt,
} from './permissions.js'
import type { Recheck } from './recheck.js'
import {
  FolderReplaced,
  mayChangeMode,
  SafeFolders,
  syncFolders,
  withUserPath,
} from './safe-folders.js'
import { removeLeftovers, type Staged, stage } from './stage.js'

export type ApplyContext = {
  readonly root: BytePath
  /** The inode of the project's folder when it was captured. */
  readonly rootIno: bigint
  /** Marks this operation's temporary files. */
  readonly tag: string
  /** Folders that a killed attempt may have staged in. */
  readonly sweep: readonly BytePath[]
  readonly durable: boolean
  readonly blobs: BlobReader
  readonly lastCheck: Recheck
  /** The owners that the target was captured with. */
  readonly lookupOwner: OwnerLookup
  readonly onProgress: (files: number, bytes: number) => void
}

/** Shared by all steps of a restore. */
export type RestoreWork = ApplyContext & {
  readonly folders: SafeFolders
  /** Makes one of our folders writable for the duration of the work. */
  readonly beforeWriteIn: (folder: BytePath) => void
}

export type Applied = {
  /** Paths that were not as the plan says and were left alone. */
  readonly disturbed: readonly BytePath[]
  /** Modes and owners that could not be restored in full. */
  readonly partialModes: readonly PartialMode[]
  /** Files and links that were moved aside; `settleAsides` handles them once everything else is done. */
  readonly asides: readonly Aside[]
}

export async function applyPlan(plan: RestorePlan, context: ApplyContext): Promise<Applied> {
  // The last check: whatever the plan was made from, no name leads out of the folder.
  for (const { path } of [...plan.write, ...plan.remove]) refuseHostilePath(path)
  for (const path of context.sweep) refuseHostilePath(path)
  const folders = openRoot(context)
  const applier = new Applier(context, folders, plan)
  try {
    return await applier.run()
  } catch (error) {
    // The staged files may be what fills the disk, and a rollback needs some space.
    removeLeftovers(applier.work)
    throw error
  } finally {
    folders.close()
  }
}

/** The project's folder, if it is still the one that was captured. */
export function openRoot({ root, rootIno }: Pick<ApplyContext, 'root' | 'rootIno'>): SafeFolders {
  try {
    return new SafeFolders(root, rootIno)
  } catch (error) {
    if (!(error instanceof FolderReplaced) && !hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP'))
      throw error
    const what = `${printablePath(root)} was replaced by another folder in the meantime`
    throw new SavestateError('REWIND_DISTURBED', what, {
      hint: 'Nothing has been changed. Check what is there now, then run the command again.',
    })
  }
}

class Applier {
  readonly work: RestoreWork
  readonly #plan: RestorePlan
  readonly #folders: SafeFolders
  readonly #disturbed = new Set<BytePath>()
  readonly #touched = new Set<BytePath>()
  readonly #partialModes: PartialMode[] = []
  /** Folders made writable temporarily, with their original mode. */
  readonly #opened = new Map<BytePath, number>()
  readonly #asides: Asides

  constructor(context: ApplyContext, folders: SafeFolders, plan: RestorePlan) {
    this.work = { ...context, folders, beforeWriteIn: (folder) => this.#makeWritable(folder) }
    this.#plan = plan
    this.#folders = folders
    this.#asides = new Asides(this.work, removedFolders(plan))
  }

  async run(): Promise<Applied> {
    const { write, remove } = this.#plan
    const newFolders = write.filter(({ from, to }) => to.type === 'folder' && from === undefined)
    const toFolders = write.filter(
      ({ from, to }) => to.type === 'folder' && from !== undefined && from.type !== 'folder',
    )
    const modes = new Set(write.filter((item) => isModeOnly(item) && this.#takesMode(item.path)))
    const contents = write.filter((item) => item.to.type !== 'folder' && !modes.has(item))

    removeLeftovers(this.work)
    for (const { path, to } of newFolders) this.#attempt(path, () => this.#makeFolder(path, to))
    const hasFolder = ({ path }: PlannedWrite) => this.#folders.has(parentOf(path))
    const early = await this.#stage(contents.filter(hasFolder), 0)
    failpoint('apply:staged')
    for (const { path, from } of remove)
      this.#attempt(path, () => {
        this.#makeWritable(parentOf(path))
        if (this.#clearPath(path, from)) failpoint('apply:remove')
      })
    failpoint('apply:removed')
    for (const { path, from, to } of toFolders)
      this.#attempt(path, () => {
        if (this.#clearPath(path, from)) this.#makeFolder(path, to)
      })
    const isStaged = new Set(early.map((staged) => staged.write.path))
    const rest = contents.filter(({ path }) => !isStaged.has(path) && !this.#disturbed.has(path))
    for (const { path, to } of newFolders)
      if (this.#disturbed.delete(path)) this.#attempt(path, () => this.#makeFolder(path, to))
    const late = await this.#stage(rest, early.length)
    for (const staged of [...early, ...late])
      this.#attempt(staged.write.path, () => this.#place(staged))
    failpoint('apply:placed')
    for (const item of modes) this.#attempt(item.path, () => this.#setMode(item))
    this.#setFolderModes(write)
    failpoint('apply:modes-set')
    if (this.work.durable) await syncFolders(this.#folders, this.#touched)
    return {
      disturbed: [...this.#disturbed],
      partialModes: this.#partialModes,
      asides: this.#asides.moved,
    }
  }

  /** Runs one step. A path that another process changed is reported, never overwritten. */
  #attempt(path: BytePath, step: () => void): void {
    try {
      step()
    } catch (error) {
      const isDisturbance =
        error instanceof FolderReplaced ||
        hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EEXIST', 'ELOOP')
      if (!isDisturbance) throw withUserPath(error, absolute(this.work, path))
      this.#disturbed.add(path)
    }
  }

  async #stage(writes: readonly PlannedWrite[], firstNumber: number): Promise<Staged[]> {
    const { staged, disturbed } = await stage(writes, this.work, firstNumber)
    for (const path of disturbed) this.#disturbed.add(path)
    return staged
  }

  #place({ write: { path, to, from }, temporary, partial }: Staged): void {
    if (!this.#clearPath(path, from)) {
      unlinkSync(this.#folders.at(temporary))
      return
    }
    try {
      moveWithoutOverwriting(this.#folders.at(temporary), this.#folders.at(path))
    } catch (error) {
      // Something was created at the path meanwhile. It stays.
      rmSync(this.#folders.at(temporary), { force: true })
      throw error
    }
    this.#noteMode(path, to, partial)
    this.#touched.add(parentOf(path))
    failpoint('apply:place')
  }

  /** Afterwards nothing is at the path. False if it did not match the plan. */
  #clearPath(path: BytePath, from: Entry | undefined): boolean {
    const isAsPlanned =
      from === undefined || from.type === 'folder'
        ? this.work.lastCheck.matchesSafety(path, { from, location: this.#folders.at(path) })
        : this.#asides.move(path, from)
    if (!isAsPlanned) {
      this.#disturbed.add(path)
      return false
    }
    if (from?.type === 'folder') {
      this.#folders.forget(path)
      // Its contents have been removed. If anything is left, this fails and the folder stays.
      rmdirSync(this.#folders.at(path))
    }
    this.#touched.add(parentOf(path))
    return true
  }

  #makeFolder(path: BytePath, to: Entry): void {
    this.#makeWritable(parentOf(path))
    const mode = to.type === 'folder' ? to.mode : 0
    const owner = this.work.lookupOwner(path)
    mkdirSync(this.#folders.at(path), firstFolderMode(mode))
    if (!ownNewFolder(this.#folders, { path, owner }))
      this.#noteMode(path, to, { mode, why: 'unknown-owner' })
    this.#touched.add(parentOf(path))
    this.#touched.add(path)
    failpoint('apply:folder')
  }

  #setMode({ path, to, from }: PlannedWrite): void {
    if (to.type !== 'file') return
    const location = this.#folders.at(path)
    if (!this.work.lastCheck.matchesSafety(path, { from, location }) || !this.#takesMode(path)) {
      this.#disturbed.add(path)
      return
    }
    const owner = this.work.lookupOwner(path)
    const granted = modeUnder(to.mode, { owner, now: lstatSync(location) })
    const mode = setFileMode(location, granted.mode)
    const isGranted = mode === undefined && granted.why !== undefined
    this.#noteMode(path, to, isGranted ? { ...granted, why: 'owner' } : fromSystem(mode))
  }

  /** A mode applies to all hard links of a file, and only its owner may set it: other files are rewritten instead. */
  #takesMode(path: BytePath): boolean {
    if (!this.#folders.has(parentOf(path))) return true
    const stats = lstatSync(this.#folders.at(path), { throwIfNoEntry: false })
    return stats === undefined || (stats.nlink <= 1 && mayChangeMode(stats))
  }

  #noteMode(path: BytePath, to: Entry, partial: Staged['partial']): void {
    if (partial === undefined || to.type === 'link') return
    this.#partialModes.push({ path, wanted: to.mode, ...partial })
  }

  #makeWritable(folder: BytePath): void {
    if (this.#opened.has(folder)) return
    const fd = this.#folders.descriptor(folder)
    const stats = fstatSync(fd)
    const mode = stats.mode & 0o7777
    if ((mode & 0o300) === 0o300 || !mayChangeMode(stats)) return
    this.#opened.set(folder, mode)
    try {
      fchmodSync(fd, mode | 0o700)
    } catch (error) {
      throw withUserPath(error, absolute(this.work, folder))
    }
  }

  #setFolderModes(write: readonly PlannedWrite[]): void {
    const modes = new Map(this.#opened)
    for (const { path, to } of write) if (to.type === 'folder') modes.set(path, to.mode)
    // Deepest first: a folder above may become inaccessible.
    for (const path of [...modes.keys()].sort().reverse()) {
      const mode = modes.get(path)
      if (mode === undefined || this.#disturbed.has(path)) continue
      this.#attempt(path, () => {
        if (!this.#folders.has(path)) return
        const partialMode = setModeAt(this.#folders.descriptor(path), mode)
        this.#noteMode(path, { type: 'folder', mode }, fromSystem(partialMode))
      })
    }
  }
}

function fromSystem(mode: number | undefined): Staged['partial'] {
  return mode === undefined ? undefined : { mode, why: 'system' }
}

/** Same content, another mode. */
function isModeOnly({ from, to }: PlannedWrite): boolean {
  return from?.type === 'file' && to.type === 'file' && from.blob === to.blob
}
