// Which names are captured, which are left out, and why.
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
import { isTemporaryName, type Site } from '../capture-target.js'
import { isUnreadable } from '../stat-cache/stats.js'
import { type KnownIndex, Tracking } from './tracking.js'

/** What decides about the names in one folder. */
export type Context = {
  readonly rules: Rules
  readonly tracking: Tracking | undefined
  /** Inside an ignored folder, entered only for what git tracks in it. */
  readonly onlyTracked: boolean
}

/** Names that change what is captured in their folder and below. */
export const RULE_FILES: readonly string[] = ['.git', ...IGNORE_FILES]

export type Place = { readonly path: BytePath; readonly absolute: string }
export type Choice = { readonly skip: SkipReason } | { readonly viaIndex: boolean }

export class Selection {
  readonly #site: Site
  readonly #known: ReadonlyMap<BytePath, KnownIndex> | undefined
  readonly #trackings = new Map<BytePath, Tracking>()
  readonly #unreadable = new Set<BytePath>()
  readonly #store: FolderIdentity | undefined
  /** The exclude file of each repository in the project. */
  readonly #excludes = new Map<BytePath, string>()
  #around: RulesAround | undefined

  constructor(site: Site, known: ReadonlyMap<BytePath, KnownIndex> | undefined) {
    this.#site = site
    this.#known = known
    this.#store = identityOf(site.home)
  }

  /** Whether a folder is the store, which may be mounted here too. Only an equal inode is worth a look at the device. */
  isStore(ino: bigint, absolute: string): boolean {
    return ino === this.#store?.ino && isSameFolder(identityOf(absolute), this.#store)
  }

  /** The repositories met, by their place in the project. */
  get repositories(): ReadonlyMap<BytePath, Tracking> {
    return this.#trackings
  }

  /** Repositories, or indexes of them, that could not be read: what only git would have brought in is missing. */
  get unreadable(): readonly BytePath[] {
    const indexes = [...this.#trackings].filter(([, { isUnreadable }]) => isUnreadable)
    return [...this.#unreadable, ...indexes.map(([path]) => joinPath(path, '.git/index'))]
  }

  /** What holds around the project: a repository may enclose it. */
  outermost(): Context {
    const enclosing = this.#look(ROOT, () => enclosingRepository(this.#site.root))
    this.#around = rulesAround(this.#site, enclosing)
    const rules = Rules.above(this.#site, this.#around)
    if (enclosing === undefined || enclosing.prefix === '')
      return { rules, tracking: undefined, onlyTracked: false }
    const { repository, prefix } = enclosing
    const tracking = this.#track(repository, ROOT, (path) => joinPath(prefix, path))
    return { rules, tracking, onlyTracked: false }
  }

  /** The rules of this scan that no snapshot holds; asked for at its end. */
  get effectiveRules(): EffectiveRules {
    const around = this.#around
    invariant(around !== undefined, 'a scan begins with what holds around the project')
    const excludes = [...this.#excludes].map(([path, file]) => ({ path, text: readText(file) }))
    return {
      ...around,
      excludes: excludes
        .filter(({ text }) => text !== '')
        .sort((a, b) => (a.path < b.path ? -1 : 1)),
    }
  }

  /** What holds inside a folder that has the names for which `has` is true. */
  enter(
    folder: FolderNode,
    place: Place,
    now: { context: Context; has: (name: string) => boolean },
  ): Context {
    const { context, has } = now
    const repository = has('.git')
      ? this.#look(place.path, () => openRepository(place.absolute))
      : undefined
    if (repository !== undefined) this.#excludes.set(place.path, excludeFileOf(repository))
    const tracking =
      repository === undefined
        ? context.tracking
        : this.#track(repository, place.path, (path) => fromRepository(path, place.path))
    const present = IGNORE_FILES.filter(has)
    const rules = enterFolder(context.rules, folder, { ...place, present, repository })
    return { rules, tracking, onlyTracked: context.onlyTracked }
  }

  choose(
    item: Place & { readonly name: BytePath; readonly type: ListedType },
    context: Context,
  ): Choice {
    const never = neverCaptured(item, this.#site)
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
    // Whether such a file is captured may hang on the index too, once its content is known.
    return { viaIndex: !isFolder && DOUBTFUL_NAME.test(item.name) && isTracked() }
  }

  /** A repository that cannot be read must not stop a capture; that it was so is listed. */
  #look<T>(path: BytePath, open: () => T | undefined): T | undefined {
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

/** Why a name is not captured whatever the rules and the user say. */
export function neverCaptured(
  item: { readonly name: BytePath; readonly type: ListedType; readonly absolute: string },
  { home }: Pick<Site, 'home'>,
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
