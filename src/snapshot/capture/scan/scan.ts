// Scans the project and updates the cached nodes. An unchanged file costs one lstat, an unchanged folder no readdir. Files
// are not read here: the scan reports those to read as `pending`.
import { type BytePath, joinPath, ROOT } from '../../../model/index.js'
import { statRoot, rootError, tooManyFilesError } from '../capture-errors.js'
import type { Listed, ListFault } from './list-folder.js'
import {
  byTreeOrder,
  isCaptured,
  isTransient,
  isUnfinished,
  type Node,
  ContentNode,
  FolderNode,
  SkippedNode,
} from '../stat-cache/node.js'
import type { Pending, Scanned, ScanOptions } from './scan-types.js'
import { type Context, type Location, RULE_FILES, Selection } from './selection.js'
import type { CaptureTarget } from '../capture-target.js'
import {
  contentKind,
  isSameStamp,
  lstat,
  permissionsOf,
  type Stats,
  setStamp,
} from '../stat-cache/stats.js'
import {
  indexByName,
  dependsOnChangedIndex,
  hasLostChild,
  dependsOnContent,
  isDecisionCurrent,
  isTooDeep,
  isKnownSecret,
  type Item,
  listNode,
  type SeenStats,
  restat,
  type Outer,
  type Refreshed,
  SAME,
  typeAt,
  type Visit,
} from './folder-visit.js'

export class Scan {
  readonly #target: CaptureTarget
  readonly #options: ScanOptions
  readonly #selection: Selection
  readonly #pending: ContentNode[] = []
  readonly #restamped: Node[] = []
  readonly #linked: ContentNode[] = []
  #fileCount = 0
  #haveModesChanged = false
  #listedCount = 0

  constructor(target: CaptureTarget, options: ScanOptions) {
    this.#target = target
    this.#options = options
    this.#selection = new Selection(target, options.memory?.indexes)
  }

  run(): Scanned {
    const root = this.#options.memory?.root ?? new FolderNode(ROOT, { viaIndex: false })
    const { root: absolute } = this.#target
    const location = { path: ROOT, absolute }
    const outer = { folder: root, location, context: this.#selection.outermost() }
    const fault = this.#visit(outer, statRoot(absolute))
    if (fault !== undefined) throw rootError(absolute, fault)
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

  /** Updates a folder and everything below, or returns why it cannot be captured. */
  #visit(outer: Outer, seen: SeenStats): ListFault | undefined {
    const { folder, location } = outer
    if (isTooDeep(location.path)) return 'unreadable'
    folder.summary = undefined
    const stats = this.#options.onFolder(location.path) ? restat(folder, location, seen) : seen
    if (stats !== SAME) this.#setMode(folder, stats)
    const isListed = folder.isStable && (stats === SAME || isSameStamp(folder, stats))
    let listed = isListed ? undefined : this.#list(folder, location, stats)
    if (typeof listed === 'string') return listed
    const context = this.#enter(outer, listed)
    const visit = { folder, location, context, isSame: this.#options.unchangedIn(location.path) }
    if (isListed && folder.rulesKey === context.rules.key && !dependsOnChangedIndex(visit)) {
      for (const child of folder.children) this.#refresh(child, visit)
    } else {
      listed ??= this.#list(folder, location, stats)
      if (typeof listed === 'string') return listed
      this.#decideAll(visit, listed)
    }
    if (folder.children.some(isUnfinished) || !this.#options.isStored(folder)) folder.id = undefined
    return undefined
  }

  /** True if the mode changed. */
  #setMode(node: ContentNode | FolderNode, stats: Stats): boolean {
    const mode = permissionsOf(stats)
    if (node.mode === mode) return false
    node.mode = mode
    this.#haveModesChanged = true
    this.#restamped.push(node)
    return true
  }

  /** The context inside the folder. Most folders contain nothing that changes it. */
  #enter({ folder, location, context }: Outer, listed: Listed | undefined): Context {
    if (listed === undefined && !folder.hasRuleFiles) return context
    const has = (name: string) =>
      listed === undefined
        ? folder.children.some((child) => child.name === name)
        : listed.has(name as BytePath)
    const hadRuleFiles = folder.hasRuleFiles
    folder.hasRuleFiles = RULE_FILES.some(has)
    if (!folder.hasRuleFiles && !hadRuleFiles) return context
    return this.#selection.enter(folder, location, { context, has })
  }

  #list(folder: FolderNode, { absolute }: Location, stats: SeenStats): Listed | ListFault {
    this.#restamped.push(folder)
    return listNode(folder, absolute, { stats, target: this.#target })
  }

  #decideAll(visit: Visit, listed: Listed): void {
    const { folder, location, context } = visit
    this.#listedCount += 1
    const before = folder.children
    const known = indexByName(before)
    const children: Node[] = []
    for (const [name, type] of listed) {
      const absolute = `${location.absolute}/${name}`
      const item = { name, type, path: joinPath(location.path, name), absolute }
      const child = this.#decide(item, known?.get(name), visit)
      if (child === undefined) folder.isStable = false
      else children.push(child)
    }
    children.sort(byTreeOrder)
    const hasLost = known !== undefined && hasLostChild(before, new Set(children))
    if (hasLost) folder.id = undefined
    const isNew = (child: Node) => known?.get(child.name) !== child && isCaptured(child)
    if (hasLost || children.some(isNew)) this.#haveModesChanged = true
    folder.children = children
    folder.rulesKey = context.rules.key
  }

  /** The node of one name; undefined if the path no longer exists. */
  #decide(item: Item, old: Node | undefined, visit: Visit): Node | undefined {
    const { folder, context } = visit
    const { name, absolute } = item
    const choice = this.#selection.choose(item, context)
    if ('skip' in choice)
      return new SkippedNode(name, { reason: choice.skip, isFolder: item.type === 'folder' })
    const { viaIndex } = choice
    if (old === undefined && item.type === 'file' && !this.#options.statsFirst) {
      const node = new ContentNode(name, { kind: 'file', viaIndex })
      this.#countFiles(1)
      this.#read({ node, folder, path: absolute, isUnseen: true, before: undefined, context })
      return node
    }
    const stats = lstat(absolute)
    if (stats === undefined) return undefined
    if (stats === 'unreadable')
      return new SkippedNode(name, { reason: 'unreadable', isFolder: false })
    if (stats.isDirectory()) {
      if (this.#selection.isStore(stats.ino, absolute))
        return new SkippedNode(name, { reason: 'store', isFolder: true })
      const isKnown = old?.kind === 'folder' && old.viaIndex === viaIndex
      const known = isKnown ? old : new FolderNode(name, { viaIndex })
      const inner = viaIndex ? { ...context, onlyTracked: true } : context
      const fault = this.#visit({ folder: known, location: item, context: inner }, stats)
      if (fault === undefined) return known
      return new SkippedNode(name, { reason: fault, isFolder: true, stats })
    }
    const kind = contentKind(stats)
    if (kind === undefined) return new SkippedNode(name, { reason: 'special', isFolder: false })
    if (stats.size > this.#target.limits.maxFileBytes)
      return new SkippedNode(name, { reason: 'too-large', isFolder: false, stats })
    const isCurrent = isDecisionCurrent(visit)
    if (isCurrent && old?.kind === 'skipped' && isKnownSecret(old, stats)) return old
    const isSameNode =
      old?.kind === kind && old.viaIndex === viaIndex && (isCurrent || !old.isAllowedSecret)
    const known = isSameNode ? old : new ContentNode(name, { kind, viaIndex })
    this.#updateContent(known, { visit, absolute, stats })
    return known
  }

  /** Checks a file or link; if it changed, it will be read. */
  #updateContent(
    node: ContentNode,
    now: { visit: Visit; absolute: string; stats: SeenStats },
  ): void {
    this.#countFiles(1)
    const { stats, visit, absolute } = now
    const isAsKnown = stats === SAME || isSameStamp(node, stats)
    if (stats !== SAME) {
      // The stamp may be the same: the mode can change between the last stat and the read.
      if (this.#setMode(node, stats)) visit.folder.id = undefined
      const isLinked = stats.nlink > 1n
      if (isLinked && !node.isLinked) this.#linked.push(node)
      node.isLinked = isLinked
    }
    if (isAsKnown && node.isStable && node.id !== undefined && this.#options.isStored(node)) return
    const { id, size } = node
    const before = id && { id, size }
    if (stats !== SAME) setStamp(node, stats)
    node.id = undefined
    this.#restamped.push(node)
    const { folder, context } = visit
    this.#read({ node, folder, path: absolute, isUnseen: false, before, context })
  }

  #read(item: Pending): void {
    // Reset now, not at the end of the visit: by then a hash thread may have answered, and the file would seem unchanged.
    item.folder.id = undefined
    this.#pending.push(item.node)
    this.#options.onPending(item)
  }

  #refresh(child: Node, visit: Visit): void {
    if (child.kind === 'skipped') {
      if (!isTransient(child.reason, child) || (dependsOnContent(child) && visit.isSame(child)))
        return
    } else if (this.#isUntouched(child, visit)) return
    if (child.kind === 'folder' && this.#isClean(child, visit)) return
    const absolute = `${visit.location.absolute}/${child.name}`
    const stats = child.kind !== 'skipped' && visit.isSame(child) ? SAME : lstat(absolute)
    const isThere = stats !== undefined && stats !== 'unreadable'
    if (isThere && this.#isStillSame(child, { stats, absolute, visit })) return
    this.#redecide(child, absolute, visit)
  }

  /** The most common case, so the shortest path: a file that is known to be unchanged. */
  #isUntouched(child: ContentNode | FolderNode, { isSame }: Visit): boolean {
    if (child.kind === 'folder' || !child.isStable || !isSame(child)) return false
    if (child.id === undefined || !this.#options.isStored(child)) return false
    this.#countFiles(1)
    return true
  }

  /** Decided by the current rules and known to be unchanged: no need to enter it. */
  #isClean(folder: FolderNode, { context, location }: Visit): boolean {
    if (!isDecisionCurrent({ folder, context })) return false
    const files = this.#options.countCleanFiles(folder, location.path)
    if (files !== undefined) this.#countFiles(files)
    return files !== undefined
  }

  #countFiles(count: number): void {
    this.#fileCount += count
    this.#options.onFile(this.#fileCount)
    if (this.#fileCount > this.#target.limits.maxFiles) throw tooManyFilesError(this.#target)
  }

  /** Updates a child of the same kind as before; false if it must be decided again. */
  #isStillSame(child: Node, { stats, absolute, visit }: Refreshed): boolean {
    if (child.kind === 'skipped') {
      if (child.reason === 'unstable' || stats === SAME) return false
      return child.isStable && isSameStamp(child, stats)
    }
    if (child.kind === 'folder') {
      if (stats !== SAME && !stats.isDirectory()) return false
      if (this.#selection.isStore((stats === SAME ? child : stats).ino, absolute)) return false
      const context = child.viaIndex ? { ...visit.context, onlyTracked: true } : visit.context
      const location = { path: joinPath(visit.location.path, child.name), absolute }
      return this.#visit({ folder: child, location, context }, stats) === undefined
    }
    if (stats !== SAME) {
      const isTooLarge = stats.size > this.#target.limits.maxFileBytes
      if (contentKind(stats) !== child.kind || isTooLarge) return false
    }
    this.#updateContent(child, { visit, absolute, stats })
    return true
  }

  /** Decides one child again, although the folder's stat is unchanged. */
  #redecide(child: Node, absolute: string, visit: Visit): void {
    const { folder, location } = visit
    const { name } = child
    const item = { name, type: typeAt(absolute), path: joinPath(location.path, name), absolute }
    const node = this.#decide(item, undefined, visit)
    const children = folder.children.flatMap((other) => (other === child ? (node ?? []) : other))
    folder.children = children.sort(byTreeOrder)
    folder.isStable = false
    folder.id = undefined
    this.#haveModesChanged = true
  }
}
