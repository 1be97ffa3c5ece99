// Decides which names are captured, which are skipped, and why.
import {
  type BytePath,
  DOUBTFUL_NAME,
  type EffectiveRules,
  invariant,
  joinPath,
  ROOT,
  type SkipReason,
} from '../../../model/index.js'
import {
  enclosingRepository,
  excludeFileOf,
  openRepository,
  type Repository,
} from '../../checkout/repository.js'
import { type FolderIdentity, identityOf, isSameFolder } from '../../folders/same-folder.js'
import type { ListedType } from './list-folder.js'
import type { FolderNode } from '../stat-cache/node.js'
import { isReservedName } from './reserved-name.js'
import {
  enterFolder,
  IGNORE_FILES,
  readText,
  Rules,
  rulesAround,
  type RulesAround,
} from './rules.js'
import { isTemporaryName, type CaptureTarget } from '../capture-target.js'
import { isUnreadable } from '../stat-cache/stats.js'
import { type KnownIndex, Tracking } from './tracking.js'

/** The rules and the index that decide the names in one folder. */
export type Context = {
  readonly rules: Rules
  readonly tracking: Tracking | undefined
  /** The folder is ignored; only files that git tracks are captured. */
  readonly onlyTracked: boolean
}

/** Files that change what is captured in their folder and below. */
export const RULE_FILES: readonly string[] = ['.git', ...IGNORE_FILES]

export type Location = { readonly path: BytePath; readonly absolute: string }
export type Choice = { readonly skip: SkipReason } | { readonly viaIndex: boolean }

export class Selection {
  readonly #target: CaptureTarget
  readonly #known: ReadonlyMap<BytePath, KnownIndex> | undefined
  readonly #trackings = new Map<BytePath, Tracking>()
  readonly #unreadable = new Set<BytePath>()
  readonly #store: FolderIdentity | undefined
  /** The exclude file of each repository in the project. */
  readonly #excludes = new Map<BytePath, string>()
  #around: RulesAround | undefined

  constructor(target: CaptureTarget, known: ReadonlyMap<BytePath, KnownIndex> | undefined) {
    this.#target = target
    this.#known = known
    this.#store = identityOf(target.home)
  }

  /** Whether a folder is the store, which may be mounted here. The device is compared only if the inode is equal. */
  isStore(ino: bigint, absolute: string): boolean {
    return ino === this.#store?.ino && isSameFolder(identityOf(absolute), this.#store)
  }

  /** The repositories found so far, by their path in the project. */
  get repositories(): ReadonlyMap<BytePath, Tracking> {
    return this.#trackings
  }

  /** Repositories or indexes that could not be read: ignored files that git tracks are missing. */
  get unreadable(): readonly BytePath[] {
    const indexes = [...this.#trackings].filter(([, { isUnreadable }]) => isUnreadable)
    return [...this.#unreadable, ...indexes.map(([path]) => joinPath(path, '.git/index'))]
  }

  /** The context above the project; a repository may enclose it. */
  outermost(): Context {
    const enclosing = this.#tryOpen(ROOT, () => enclosingRepository(this.#target.root))
    this.#around = rulesAround(this.#target, enclosing)
    const rules = Rules.above(this.#target, this.#around)
    if (enclosing === undefined || enclosing.prefix === '')
      return { rules, tracking: undefined, onlyTracked: false }
    const { repository, prefix } = enclosing
    const tracking = this.#track(repository, ROOT, (path) => joinPath(prefix, path))
    return { rules, tracking, onlyTracked: false }
  }

  /** The rules of this scan that are not files of the snapshot. Call at the end of the scan. */
  get effectiveRules(): EffectiveRules {
    const around = this.#around
    invariant(around !== undefined, 'a scan begins with the outermost context')
    const excludes = [...this.#excludes].map(([path, file]) => ({ path, text: readText(file) }))
    return {
      ...around,
      excludes: excludes
        .filter(({ text }) => text !== '')
        .sort((a, b) => (a.path < b.path ? -1 : 1)),
    }
  }

  /** The context inside a folder. `has` tells whether the folder contains a name. */
  enter(
    folder: FolderNode,
    location: Location,
    now: { context: Context; has: (name: string) => boolean },
  ): Context {
    const { context, has } = now
    const repository = has('.git')
      ? this.#tryOpen(location.path, () => openRepository(location.absolute))
      : undefined
    if (repository !== undefined) this.#excludes.set(location.path, excludeFileOf(repository))
    const tracking =
      repository === undefined
        ? context.tracking
        : this.#track(repository, location.path, (path) => fromRepository(path, location.path))
    const present = IGNORE_FILES.filter(has)
    const rules = enterFolder(context.rules, folder, { ...location, present, repository })
    return { rules, tracking, onlyTracked: context.onlyTracked }
  }

  choose(
    item: Location & { readonly name: BytePath; readonly type: ListedType },
    context: Context,
  ): Choice {
    const never = neverCaptured(item, this.#target)
    if (never !== undefined) return { skip: never }
    const { rules, tracking, onlyTracked } = context
    const isFolder = item.type === 'folder'
    const isTracked = () =>
      (isFolder ? tracking?.tracksInside(item.path) : tracking?.tracks(item.path)) === true
    if (!isFolder && !onlyTracked && rules.namesSecret(item.path)) {
      if (rules.allowsSecret(item.path)) return { viaIndex: false }
      return isTracked() ? { viaIndex: true } : { skip: 'secret' }
    }
    if (onlyTracked || rules.isIgnored(item.path, isFolder))
      return isTracked() ? { viaIndex: true } : { skip: 'ignored' }
    // Once its content is known, such a file may be captured only because the index tracks it.
    return { viaIndex: !isFolder && DOUBTFUL_NAME.test(item.name) && isTracked() }
  }

  /** An unreadable repository does not stop a capture; it is listed. */
  #tryOpen<T>(path: BytePath, open: () => T | undefined): T | undefined {
    try {
      return open()
    } catch (error) {
      if (!isUnreadable(error)) throw error
      this.#unreadable.add(joinPath(path, '.git'))
      return undefined
    }
  }

  #track(
    repository: Repository,
    path: BytePath,
    toRepository: (path: BytePath) => BytePath,
  ): Tracking {
    const tracking = new Tracking(repository, toRepository, this.#known?.get(path))
    this.#trackings.set(path, tracking)
    return tracking
  }
}

/** Why a name is never captured, regardless of rules and settings. */
export function neverCaptured(
  item: { readonly name: BytePath; readonly type: ListedType; readonly absolute: string },
  { home }: Pick<CaptureTarget, 'home'>,
): SkipReason | undefined {
  if (item.name === '.git') return 'vcs'
  if (item.absolute === home) return 'store'
  if (isTemporaryName(item.name)) return 'temporary'
  if (isReservedName(item.name)) return 'reserved'
  return item.type === 'special' ? 'special' : undefined
}

function fromRepository(path: BytePath, repository: BytePath): BytePath {
  return repository === '' ? path : (path.slice(repository.length + 1) as BytePath)
}
