// Scans the project and updates the cached nodes. An unchanged file costs one lstat, an unchanged folder no readdir. Contents
// are not read here: files to be read are returned as `pending`.
import { type BytePath, joinPath, ROOT } from '../../../model/index.js'
import { lookAtRoot, rootFault, tooMany } from '../capture-errors.js'
import { type Listed, type ListFault, listVerified, VANISHED } from './list-folder.js'
import {
  byTreeOrder,
  type ContentNode,
  type FolderNode,
  isCaptured,
  isPassing,
  isUnfinished,
  type Node,
  newContent,
  newFolder,
  newSkipped,
} from '../stat-cache/node.js'
import type { Pending, Scanned, ScanOptions } from './scan-types.js'
import { type Context, type Place, RULE_FILES, Selection } from './selection.js'
import type { Site } from '../capture-target.js'
import {
  isSameStamp,
  isSettled,
  lstat,
  permissionsOf,
  type Stats,
  setStamp,
} from '../stat-cache/stats.js'
import {
  byName,
  hangsOnChangedIndex,
  hasLostAny,
  liesInFile,
  isDecided,
  isTooDeep,
  isKnownSecret,
  type Item,
  type Looked,
  lookAgain,
  type Outer,
  type Refreshed,
  SAME,
  typeAt,
  type Visit,
  withoutAsides,
} from './folder-visit.js'

export class Scan {
  readonly #site: Site
  readonly #options: ScanOptions
  readonly #selection: Selection
  readonly #pending: ContentNode[] = []
  readonly #restamped: Node[] = []
  readonly #linked: ContentNode[] = []
  #fileCount = 0
  #haveModesChanged = false
  #listedCount = 0

  constructor(site: Site, options: ScanOptions) {
    this.#site = site
    this.#options = options
    this.#selection = new Selection(site, options.memory?.indexes)
  }

  run(): Scanned {
    const root = this.#options.memory?.root ?? newFolder(ROOT, { viaIndex: false })
    const { root: absolute } = this.#site
    const outer = { folder: root, place: { path: ROOT, absolute } }
    const context = this.#selection.outermost()
    const fault = this.#visit({ ...outer, context }, lookAtRoot(absolute))
    if (fault !== undefined) throw rootFault(absolute, fault)
    return {
      root,
      pending: this.#pending,
      repositories: this.#selection.repositories,
      rules: this.#selection.effectiveRules,
      unreadable: this.#selection.unreadable,
      haveModesChanged: this.#haveModesChanged,
      newsCount: this.#pending.length + this.#listedCount,
      restamped: this.#restamped,
      linked: this.#linked,
    }
  }

  /** Updates a folder and all below, or returns why it cannot be captured. */
  #visit(outer: Outer, seen: Looked): ListFault | undefined {
    const { folder, place } = outer
    if (isTooDeep(place.path)) return 'unreadable'
    folder.summary = undefined
    const stats = this.#options.onFolder(place.path) ? lookAgain(folder, place, seen) : seen
    if (stats !== SAME) this.#setMode(folder, stats)
    const isListed = folder.settled && (stats === SAME || isSameStamp(folder, stats))
    let listed = isListed ? undefined : this.#list(folder, place, stats)
    if (typeof listed === 'string') return listed
    const context = this.#enter(outer, listed)
    const visit = { folder, place, context, isSame: this.#options.sameIn(place.path) }
    if (isListed && folder.rulesKey === context.rules.key && !hangsOnChangedIndex(visit)) {
      for (const child of folder.children) this.#refresh(child, visit)
    } else {
      listed ??= this.#list(folder, place, stats)
      if (typeof listed === 'string') return listed
      this.#decideAll(visit, listed)
    }
    if (folder.children.some(isUnfinished) || !this.#options.isStored(folder)) folder.id = undefined
    return undefined
  }

  /** True if it was another one. */
  #setMode(node: ContentNode | FolderNode, stats: Stats): boolean {
    const mode = permissionsOf(stats)
    if (node.mode === mode) return false
    node.mode = mode
    this.#haveModesChanged = true
    this.#restamped.push(node)
    return true
  }

  /** What decides inside the folder. Most folders hold nothing that changes it. */
  #enter({ folder, place, context }: Outer, listed: Listed | undefined): Context {
    if (listed === undefined && !folder.hasRuleFiles) return context
    const has = (name: string) =>
      listed === undefined
        ? folder.children.some((child) => child.name === name)
        : listed.has(name as BytePath)
    const hadRuleFiles = folder.hasRuleFiles
    folder.hasRuleFiles = RULE_FILES.some(has)
    if (!folder.hasRuleFiles && !hadRuleFiles) return context
    return this.#selection.enter(folder, place, { context, has })
  }

  #list(folder: FolderNode, place: Place, stats: Looked): Listed | ListFault {
    const listedAtMs = Date.now()
    const found = listVerified(place.absolute, (stats === SAME ? folder : stats).ino)
    if (typeof found === 'string') return found
    const listed = withoutAsides(found, this.#site)
    if (stats !== SAME) setStamp(folder, stats)
    // A folder above may have been moved away for a moment, which leaves no trace on this one.
    folder.settled = found !== VANISHED && found === listed && isSettled(folder, listedAtMs)
    this.#restamped.push(folder)
    return listed
  }

  #decideAll(visit: Visit, listed: Listed): void {
    const { folder, place, context } = visit
    this.#listedCount += 1
    const before = folder.children
    const known = byName(before)
    const children: Node[] = []
    for (const [name, type] of listed) {
      const item = {
        name,
        type,
        path: joinPath(place.path, name),
        absolute: `${place.absolute}/${name}`,
      }
      const child = this.#decide(item, known?.get(name), visit)
      if (child === undefined) folder.settled = false
      else children.push(child)
    }
    children.sort(byTreeOrder)
    const hasLost = known !== undefined && hasLostAny(before, new Set(children))
    if (hasLost) folder.id = undefined
    const isNew = (child: Node) => known?.get(child.name) !== child && isCaptured(child)
    if (hasLost || children.some(isNew)) this.#haveModesChanged = true
    folder.children = children
    folder.rulesKey = context.rules.key
  }

  /** The node of one name; undefined if it has vanished. */
  #decide(item: Item, old: Node | undefined, visit: Visit): Node | undefined {
    const { folder, context } = visit
    const { name, absolute } = item
    const choice = this.#selection.choose(item, context)
    if ('skip' in choice)
      return newSkipped(name, { reason: choice.skip, isFolder: item.type === 'folder' })
    const { viaIndex } = choice
    if (old === undefined && item.type === 'file' && !this.#options.looksFirst) {
      const node = newContent(name, { kind: 'file', viaIndex })
      this.#countFiles(1)
      this.#read({ node, folder, path: absolute, isUnseen: true, before: undefined, context })
      return node
    }
    const stats = lstat(absolute)
    if (stats === undefined) return undefined
    if (stats === 'unreadable') return newSkipped(name, { reason: 'unreadable', isFolder: false })
    if (stats.isDirectory()) {
      if (this.#selection.isStore(stats.ino, absolute))
        return newSkipped(name, { reason: 'store', isFolder: true })
      const known =
        old?.kind === 'folder' && old.viaIndex === viaIndex ? old : newFolder(name, { viaIndex })
      const inner = viaIndex ? { ...context, onlyTracked: true } : context
      const fault = this.#visit({ folder: known, place: item, context: inner }, stats)
      return fault === undefined
        ? known
        : newSkipped(name, { reason: fault, isFolder: true, stats })
    }
    const kind = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : undefined
    if (kind === undefined) return newSkipped(name, { reason: 'special', isFolder: false })
    if (stats.size > this.#site.limits.maxFileBytes) {
      return newSkipped(name, { reason: 'too-large', isFolder: false, stats })
    }
    const isJudged = isDecided(visit)
    if (isJudged && old?.kind === 'skipped' && isKnownSecret(old, stats)) return old
    const isSameNode =
      old?.kind === kind && old.viaIndex === viaIndex && (isJudged || !old.isAllowedSecret)
    const known = isSameNode ? old : newContent(name, { kind, viaIndex })
    this.#take(known, { visit, absolute, stats })
    return known
  }

  /** Whether a file is as it was; if not, it will be read. */
  #take(node: ContentNode, now: { visit: Visit; absolute: string; stats: Looked }): void {
    this.#countFiles(1)
    const { stats, visit, absolute } = now
    const isAsKnown = stats === SAME || isSameStamp(node, stats)
    if (stats !== SAME) {
      // Perhaps without another stamp: it was changed between the last look and the reading.
      if (this.#setMode(node, stats)) visit.folder.id = undefined
      const isLinked = stats.nlink > 1n
      if (isLinked && !node.isLinked) this.#linked.push(node)
      node.isLinked = isLinked
    }
    if (isAsKnown && node.settled && node.id !== undefined && this.#options.isStored(node)) return
    const { id, size } = node
    const before = id && { id, size }
    if (stats !== SAME) setStamp(node, stats)
    node.id = undefined
    this.#restamped.push(node)
    const { folder, context } = visit
    this.#read({ node, folder, path: absolute, isUnseen: false, before, context })
  }

  #read(item: Pending): void {
    // Here, not at the end of the visit: a hash thread may have answered by then, and the content look finished.
    item.folder.id = undefined
    this.#pending.push(item.node)
    this.#options.onPending(item)
  }

  #refresh(child: Node, visit: Visit): void {
    if (child.kind === 'skipped') {
      if (!isPassing(child.reason, child) || (liesInFile(child) && visit.isSame(child))) return
    } else if (this.#isUntouched(child, visit)) return
    if (child.kind === 'folder' && this.#isQuiet(child, visit)) return
    const absolute = `${visit.place.absolute}/${child.name}`
    const stats = child.kind !== 'skipped' && visit.isSame(child) ? SAME : lstat(absolute)
    const isThere = stats !== undefined && stats !== 'unreadable'
    if (isThere && this.#isStillSame(child, { stats, absolute, visit })) return
    this.#redecide(child, absolute, visit)
  }

  /** The commonest case by far, and so the shortest: a file that is surely unchanged. */
  #isUntouched(child: ContentNode | FolderNode, { isSame }: Visit): boolean {
    if (child.kind === 'folder' || !child.settled || !isSame(child)) return false
    if (child.id === undefined || !this.#options.isStored(child)) return false
    this.#countFiles(1)
    return true
  }

  /** Decided by the rules that hold now, and surely unchanged: no need to go in. */
  #isQuiet(folder: FolderNode, { context, place }: Visit): boolean {
    if (folder.rulesKey !== context.rules.key || context.tracking?.hasChanged === true) return false
    const files = this.#options.quietFiles(folder, place.path)
    if (files !== undefined) this.#countFiles(files)
    return files !== undefined
  }

  #countFiles(count: number): void {
    this.#fileCount += count
    this.#options.onFile(this.#fileCount)
    if (this.#fileCount > this.#site.limits.maxFiles) throw tooMany(this.#site)
  }

  /** Updates a child that is still what it was; false if it must be decided anew. */
  #isStillSame(child: Node, { stats, absolute, visit }: Refreshed): boolean {
    if (child.kind === 'skipped') {
      if (child.reason === 'unstable' || stats === SAME) return false
      return child.settled && isSameStamp(child, stats)
    }
    if (child.kind === 'folder') {
      if (stats !== SAME && !stats.isDirectory()) return false
      if (this.#selection.isStore((stats === SAME ? child : stats).ino, absolute)) return false
      const context = child.viaIndex ? { ...visit.context, onlyTracked: true } : visit.context
      const place = { path: joinPath(visit.place.path, child.name), absolute }
      return this.#visit({ folder: child, place, context }, stats) === undefined
    }
    if (stats !== SAME) {
      const isSameKind = child.kind === 'file' ? stats.isFile() : stats.isSymbolicLink()
      if (!isSameKind || stats.size > this.#site.limits.maxFileBytes) return false
    }
    this.#take(child, { visit, absolute, stats })
    return true
  }

  /** One child is no longer what it was, though the folder looks the same. */
  #redecide(child: Node, absolute: string, visit: Visit): void {
    const { folder, place } = visit
    const { name } = child
    const item = { name, type: typeAt(absolute), path: joinPath(place.path, name), absolute }
    const node = this.#decide(item, undefined, visit)
    const children = folder.children.flatMap((other) => (other === child ? (node ?? []) : other))
    folder.children = children.sort(byTreeOrder)
    folder.settled = false
    folder.id = undefined
    this.#haveModesChanged = true
  }
}
