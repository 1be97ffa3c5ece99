// Looks at the whole project and updates what is known of it. An unchanged file costs one lstat, an
// unchanged folder no readdir. Contents are not read here: what has to be is handed back as `pending`.
import { type BigIntStats, lstatSync } from 'node:fs'
import {
  type BytePath,
  fsPath,
  hasCode,
  joinPath,
  type ObjectId,
  printablePath,
  ROOT,
  SavestateError,
  type SkipReason,
} from '../../model/index.js'
import { enclosingRepository, openRepository, type Repository } from '../checkout/repository.js'
import { type Listed, listFolder } from './list-folder.js'
import {
  byTreeOrder,
  type ContentNode,
  type FolderNode,
  isCaptured,
  type Node,
  newContent,
  newFolder,
  newSkipped,
  type SkippedNode,
} from './node.js'
import { isUnreadable } from './read-file.js'
import { isReservedName } from './reserved-name.js'
import { enterFolder, IGNORE_FILES, Rules } from './rules.js'
import { type Site, TEMPORARY_PREFIX } from './site.js'
import { isSameStamp, isSettled, setStamp } from './stamp.js'
import { type KnownIndex, Tracking } from './tracking.js'

/** A file or link whose content must be read. */
export type Pending = {
  readonly node: ContentNode
  readonly folder: FolderNode
  readonly path: string
}

export type Memory = {
  readonly root: FolderNode
  readonly indexes: ReadonlyMap<BytePath, KnownIndex>
}

export type Scanned = {
  readonly root: FolderNode
  readonly pending: readonly Pending[]
  readonly indexes: ReadonlyMap<BytePath, KnownIndex>
  readonly repositories: ReadonlyMap<BytePath, Repository>
  /** Repositories whose index could not be read: what only it would have brought in is missing. */
  readonly unreadableIndexes: readonly BytePath[]
  /** The mode of a folder has changed, which no tree shows. */
  readonly haveModesChanged: boolean
}

type Place = { readonly path: BytePath; readonly absolute: string }
type Context = {
  readonly rules: Rules
  readonly tracking: Tracking | undefined
  readonly onlyTracked: boolean
}

const LSTAT = { bigint: true, throwIfNoEntry: false } as const
const MODE_BITS = 0o7777

export class Scan {
  readonly #site: Site
  readonly #memory: Memory | undefined
  readonly #isStored: (id: ObjectId) => boolean
  readonly #onFile: (count: number) => void
  readonly #pending: Pending[] = []
  readonly #trackings = new Map<BytePath, Tracking>()
  readonly #repositories = new Map<BytePath, Repository>()
  #fileCount = 0
  #haveModesChanged = false

  constructor(
    site: Site,
    options: {
      readonly memory: Memory | undefined
      readonly isStored: (id: ObjectId) => boolean
      readonly onFile: (count: number) => void
    },
  ) {
    this.#site = site
    this.#memory = options.memory
    this.#isStored = options.isStored
    this.#onFile = options.onFile
  }

  run(): Scanned {
    const root = this.#memory?.root ?? newFolder(ROOT, { viaIndex: false })
    const place = { path: ROOT, absolute: this.#site.root }
    const stats = lstatSync(fsPath(this.#site.root), LSTAT)
    if (stats === undefined || !stats.isDirectory()) throw missing(this.#site.root)
    const enclosing = enclosingRepository(this.#site.root)
    const tracking =
      enclosing === undefined || enclosing.prefix === ''
        ? undefined
        : this.#track(enclosing.repository, ROOT, (path) => joinPath(enclosing.prefix, path))
    if (enclosing !== undefined) this.#repositories.set(ROOT, enclosing.repository)
    const context = { rules: Rules.above(this.#site), tracking, onlyTracked: false }
    if (!this.#visit(root, place, { stats, context })) {
      throw new SavestateError('PROJECT_MISSING', 'The project folder cannot be read', {
        hint: 'Check its permissions.',
      })
    }
    return {
      root,
      pending: this.#pending,
      indexes: new Map([...this.#trackings].map(([path, { known }]) => [path, known])),
      repositories: this.#repositories,
      unreadableIndexes: [...this.#trackings].flatMap(([path, { isUnreadable }]) =>
        isUnreadable ? path : [],
      ),
      haveModesChanged: this.#haveModesChanged,
    }
  }

  /** Updates a folder and all below. False if it cannot be listed. */
  #visit(folder: FolderNode, place: Place, now: { stats: BigIntStats; context: Context }): boolean {
    const mode = Number(now.stats.mode) & MODE_BITS
    if (folder.mode !== mode) this.#haveModesChanged = true
    folder.mode = mode
    const isListed = folder.settled && isSameStamp(folder, now.stats)
    let listed: Listed | undefined
    if (!isListed) {
      listed = this.#list(folder, place, now.stats)
      if (listed === undefined) return false
    }
    const context = this.#enter(folder, place, { listed, context: now.context })
    const isDecided =
      folder.rulesKey === context.rules.key &&
      !(context.tracking?.hasChanged === true && hangsOnIndex(folder))
    if (isListed && isDecided) {
      for (const child of folder.children) this.#refresh(child, { folder, place, context })
    } else {
      listed ??= this.#list(folder, place, now.stats)
      if (listed === undefined) return false
      this.#decideAll(folder, place, { listed, context })
    }
    if (folder.id !== undefined && !folder.kept && !this.#isStored(folder.id)) folder.id = undefined
    if (folder.children.some(isUnfinished)) folder.id = undefined
    return true
  }

  #list(folder: FolderNode, place: Place, stats: BigIntStats): Listed | undefined {
    const listedAtMs = Date.now()
    const listed = listFolder(place.absolute)
    if (listed === undefined) return undefined
    setStamp(folder, stats)
    folder.settled = isSettled(stats, listedAtMs)
    return listed
  }

  #enter(
    folder: FolderNode,
    place: Place,
    now: { listed: Listed | undefined; context: Context },
  ): Context {
    const has = (name: string) =>
      now.listed === undefined
        ? folder.children.some((child) => child.name === name)
        : now.listed.has(name as BytePath)
    const repository = has('.git') ? openRepository(place.absolute) : undefined
    const tracking =
      repository === undefined
        ? now.context.tracking
        : this.#track(repository, place.path, (path) => fromRepository(path, place.path))
    if (repository !== undefined) this.#repositories.set(place.path, repository)
    const present = new Set(IGNORE_FILES.filter(has))
    const rules = enterFolder(now.context.rules, folder, { ...place, present, repository })
    return { rules, tracking, onlyTracked: now.context.onlyTracked }
  }

  #track(
    repository: Repository,
    path: BytePath,
    toRepository: (path: BytePath) => BytePath,
  ): Tracking {
    const tracking = new Tracking(repository, toRepository, this.#memory?.indexes.get(path))
    this.#trackings.set(path, tracking)
    return tracking
  }

  #decideAll(folder: FolderNode, place: Place, now: { listed: Listed; context: Context }): void {
    const known = new Map(folder.children.map((child) => [child.name, child]))
    const children: Node[] = []
    for (const [name, type] of now.listed) {
      const old = known.get(name)
      const path = joinPath(place.path, name)
      const absolute = `${place.absolute}/${name}`
      const child = this.#decide(
        { name, type, old, path, absolute },
        { folder, context: now.context },
      )
      if (child !== undefined) children.push(child)
    }
    children.sort(byTreeOrder)
    const remaining = new Set(children)
    if (folder.children.some((child) => isCaptured(child) && !remaining.has(child)))
      folder.id = undefined
    folder.children = children
    folder.rulesKey = now.context.rules.key
  }

  #decide(
    item: { name: BytePath; type: string; old: Node | undefined; path: BytePath; absolute: string },
    now: { folder: FolderNode; context: Context },
  ): Node | undefined {
    const { name, type, old, path, absolute } = item
    const isFolder = type === 'folder'
    const never = this.#neverCaptured(name, type, absolute)
    if (never !== undefined) return newSkipped(name, { reason: never, isFolder })
    const isIgnored = now.context.onlyTracked || now.context.rules.isIgnored(path, isFolder)
    const viaIndex = isIgnored && this.#isTracked(path, isFolder, now.context)
    if (isIgnored && !viaIndex) return newSkipped(name, { reason: 'ignored', isFolder })

    const stats = lstat(absolute)
    if (stats === undefined) return undefined
    if (stats === 'unreadable') return newSkipped(name, { reason: 'unreadable', isFolder })
    if (stats.isDirectory()) {
      const known =
        old?.kind === 'folder' && old.viaIndex === viaIndex ? old : newFolder(name, { viaIndex })
      const context = viaIndex ? { ...now.context, onlyTracked: true } : now.context
      if (this.#visit(known, { path, absolute }, { stats, context })) return known
      return newSkipped(name, { reason: 'unreadable', isFolder: true, stats })
    }
    const kind = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : undefined
    if (kind === undefined) return newSkipped(name, { reason: 'special', isFolder: false })
    if (stats.size > this.#site.limits.maxFileBytes) {
      return newSkipped(name, { reason: 'too-large', isFolder: false, stats })
    }
    const known =
      old?.kind === kind && old.viaIndex === viaIndex ? old : newContent(name, { kind, viaIndex })
    this.#take(known, { folder: now.folder, absolute, stats })
    return known
  }

  /** Whether a file is as it was; if not, it will be read. */
  #take(
    node: ContentNode,
    now: { folder: FolderNode; absolute: string; stats: BigIntStats },
  ): void {
    this.#fileCount += 1
    this.#onFile(this.#fileCount)
    if (this.#fileCount > this.#site.limits.maxFiles) throw tooMany(this.#site)
    node.mode = Number(now.stats.mode) & MODE_BITS
    const isKnown = node.id !== undefined && node.settled && isSameStamp(node, now.stats)
    if (isKnown && (node.kept || (node.id !== undefined && this.#isStored(node.id)))) return
    setStamp(node, now.stats)
    node.id = undefined
    this.#pending.push({ node, folder: now.folder, path: now.absolute })
  }

  #refresh(child: Node, now: { folder: FolderNode; place: Place; context: Context }): void {
    const absolute = `${now.place.absolute}/${child.name}`
    if (child.kind === 'skipped' && !mayChangeUnseen(child)) return
    const stats = lstat(absolute)
    if (child.kind === 'skipped') {
      const isSame = stats !== undefined && stats !== 'unreadable' && isSameStamp(child, stats)
      if (isSame && child.reason !== 'unstable') return
    } else if (stats !== undefined && stats !== 'unreadable') {
      if (child.kind === 'folder' && stats.isDirectory()) {
        const context = child.viaIndex ? { ...now.context, onlyTracked: true } : now.context
        const path = joinPath(now.place.path, child.name)
        if (this.#visit(child, { path, absolute }, { stats, context })) return
      } else if (isStillContent(child, stats) && stats.size <= this.#site.limits.maxFileBytes) {
        this.#take(child, { folder: now.folder, absolute, stats })
        return
      }
    }
    this.#redecide(child, absolute, now)
  }

  /** One child is no longer what it was, though the folder looks the same. */
  #redecide(
    child: Node,
    absolute: string,
    now: { folder: FolderNode; place: Place; context: Context },
  ): void {
    const stats = lstat(absolute)
    const type =
      stats === undefined || stats === 'unreadable'
        ? 'other'
        : stats.isDirectory()
          ? 'folder'
          : 'other'
    const path = joinPath(now.place.path, child.name)
    const node = this.#decide({ name: child.name, type, old: undefined, path, absolute }, now)
    now.folder.children = now.folder.children.flatMap((other) =>
      other === child ? (node ?? []) : other,
    )
    now.folder.children.sort(byTreeOrder)
    now.folder.settled = false
    now.folder.id = undefined
  }

  #neverCaptured(name: BytePath, type: string, absolute: string): SkipReason | undefined {
    if (name === '.git') return 'vcs'
    if (absolute === this.#site.home) return 'store'
    if (name.startsWith(TEMPORARY_PREFIX)) return 'temporary'
    if (isReservedName(name)) return 'reserved'
    return type === 'special' ? 'special' : undefined
  }

  #isTracked(path: BytePath, isFolder: boolean, { tracking }: Context): boolean {
    if (tracking === undefined) return false
    return isFolder ? tracking.tracksInside(path) : tracking.tracks(path)
  }
}

/** Skipped for something that can end without the folder changing. */
function mayChangeUnseen({ reason }: SkippedNode): boolean {
  return reason === 'too-large' || reason === 'unreadable' || reason === 'unstable'
}

function isUnfinished(node: Node): boolean {
  return node.kind !== 'skipped' && node.id === undefined
}

function hangsOnIndex({ children }: FolderNode): boolean {
  return children.some((child) =>
    child.kind === 'skipped' ? child.reason === 'ignored' : child.viaIndex,
  )
}

function isStillContent(child: Node, stats: BigIntStats): child is ContentNode {
  return (
    (child.kind === 'file' && stats.isFile()) || (child.kind === 'link' && stats.isSymbolicLink())
  )
}

function lstat(path: string): BigIntStats | 'unreadable' | undefined {
  try {
    return lstatSync(fsPath(path), LSTAT)
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return undefined
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

function fromRepository(path: BytePath, repository: BytePath): BytePath {
  return repository === '' ? path : (path.slice(repository.length + 1) as BytePath)
}

function missing(root: BytePath): SavestateError {
  return new SavestateError('PROJECT_MISSING', `There is no folder ${printablePath(root)}`, {
    hint: 'If it was moved, run the command where it is now.',
  })
}

function tooMany({ limits }: Site): SavestateError {
  return new SavestateError(
    'TOO_MANY_FILES',
    `The project has more than ${limits.maxFiles} files to capture`,
    {
      hint: 'Leave folders out with a .savestateignore file, or raise the limit maxFiles.',
    },
  )
}
