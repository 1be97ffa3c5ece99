// What is left out, folder by folder. `.savestateignore` has the last word, then git's own ignore files,
// then our defaults. Reading and compiling is put off until a name has to be decided: an unchanged folder
// only compares keys.
import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import {
  type BytePath,
  bytePath,
  DEFAULT_EXCLUDES,
  type EffectiveRules,
  fsPath,
  hasCode,
  ROOT,
  SECRET_NAMES,
} from '../../../model/index.js'
import { enclosingRepository, excludeFileOf, type Repository } from '../../checkout/repository.js'
import {
  compileIgnoreList,
  extend,
  type IgnoreChain,
  joined,
  verdict,
} from '../../ignore/ignore-rules.js'
import type { FolderNode } from '../stat-cache/node.js'
import { type ReadFault, readStable, type StableRead } from '../hash/read-file.js'
import type { Site } from '../capture-target.js'
import { isSettled, stampText } from '../stat-cache/stats.js'
import { VerifiedFolder } from './verified-folder.js'

export const IGNORE_FILES = ['.gitignore', '.savestateignore'] as const

type Chains = { readonly own: IgnoreChain | undefined; readonly git: IgnoreChain | undefined }
type Source = { readonly file: (typeof IGNORE_FILES)[number] | 'exclude'; readonly text: string }

/** What holds in every folder of a project. */
type Fixed = {
  readonly defaults: IgnoreChain
  readonly secretNames: IgnoreChain
  readonly allowedSecrets: IgnoreChain | undefined
  /** The project's `.savestateignore`, if the user trusts it. */
  readonly trusted: IgnoreChain | undefined
}

/** The rules that hold in the project before any file in it is read. */
export type RulesAround = Omit<EffectiveRules, 'excludes'>

export function rulesAround(
  { ignoreCase, limits }: Site,
  enclosing: ReturnType<typeof enclosingRepository>,
): RulesAround {
  return {
    ignoreCase,
    defaults: DEFAULT_EXCLUDES,
    secretNames: SECRET_NAMES,
    allowSecrets: limits.allowSecrets,
    trustedIgnore: limits.trustedIgnore,
    above: enclosing === undefined ? [] : listsAbove(enclosing.repository, enclosing.prefix),
  }
}

export class Rules {
  /** Two folders with equal keys are decided alike. */
  readonly key: string
  readonly #load: () => Chains
  readonly #fixed: () => Fixed
  #chains: Chains | undefined
  /** Everything that can make a path ignored, in one. */
  #all: { readonly chain: IgnoreChain | undefined } | undefined

  private constructor(key: string, fixed: () => Fixed, load: () => Chains) {
    this.key = key
    this.#fixed = fixed
    this.#load = load
  }

  /** The rules above the project's own folder: defaults, and the repository it lies in. */
  static above(site: Site, around: RulesAround): Rules {
    const { defaults, secretNames, above } = around
    // The rules of a folder are the same during a rewind.
    const { rewinding: _, ...lasting } = site
    const key = digest(
      JSON.stringify([defaults, secretNames]),
      JSON.stringify(lasting),
      JSON.stringify(above),
    )
    return Rules.#from(key, around)
  }

  /** The same as a checkpoint recorded them. */
  static recorded(rules: RulesAround): Rules {
    return Rules.#from('recorded', rules)
  }

  static #from(key: string, around: RulesAround): Rules {
    const { ignoreCase, above } = around
    return new Rules(
      key,
      () => fixedRules(around),
      () => {
        let git: IgnoreChain | undefined
        for (const { text, prefix } of above)
          git = extend(git, compileIgnoreList(text, ROOT, { ignoreCase, prefix }))
        return { own: undefined, git }
      },
    )
  }

  /** The rules inside a folder whose ignore files `read` gives; `key` tells one set of them from another. */
  inside({
    path,
    key,
    read,
  }: {
    readonly path: BytePath
    readonly key: string
    readonly read: () => Source[]
  }): Rules {
    return new Rules(digest(this.key, path, key), this.#fixed, () => {
      let { own, git } = this.#resolve()
      for (const { file, text } of read()) {
        const list = compileIgnoreList(text, path, {
          ignoreCase: this.#fixed().defaults.list.ignoreCase,
        })
        if (file === '.savestateignore') own = extend(own, list)
        else git = extend(git, list)
      }
      return { own, git }
    })
  }

  isIgnored(path: BytePath, isFolder: boolean): boolean {
    this.#all ??= this.#joined()
    return verdict(this.#all.chain, path, isFolder) === 'ignored'
  }

  /** Whether the path alone says of a file that it is a secret. */
  namesSecret(path: BytePath): boolean {
    return verdict(this.#fixed().secretNames, path, false) === 'ignored'
  }

  /** Whether a secret is captured all the same. Only the user decides that: by settings, or by a `.savestateignore` they trust. */
  allowsSecret(path: BytePath): boolean {
    const { trusted, allowedSecrets } = this.#fixed()
    const own = verdict(trusted, path, false)
    if (own !== undefined) return own === 'included'
    return isListed(allowedSecrets, path)
  }

  #joined(): { readonly chain: IgnoreChain | undefined } {
    const { own, git } = this.#resolve()
    return { chain: joined(own, joined(git, this.#fixed().defaults)) }
  }

  #resolve(): Chains {
    this.#chains ??= this.#load()
    return this.#chains
  }
}

/**
 * The rules inside `folder`, whose ignore files are named in `present`. Keeps in the node what identifies
 * them, so that the next save reads them again only if they changed.
 */
export function enterFolder(
  outer: Rules,
  folder: FolderNode,
  place: {
    readonly path: BytePath
    readonly absolute: string
    readonly present: readonly string[]
    readonly repository: Repository | undefined
  },
): Rules {
  const files: { file: Source['file']; path: string }[] = []
  if (place.repository !== undefined)
    files.push({ file: 'exclude', path: excludeFileOf(place.repository) })
  for (const file of IGNORE_FILES) {
    if (place.present.includes(file)) files.push({ file, path: `${place.absolute}/${file}` })
  }
  if (files.length === 0) {
    folder.ignoreStamp = folder.ignoreKey = ''
    return outer
  }
  const stamp = files.map(({ path }) => stampOf(path)).join('|')
  const read = () =>
    files.map(({ file, path }) => ({
      file,
      text: file === 'exclude' ? readText(path) : readVerified(path),
    }))
  if (stamp !== folder.ignoreStamp || stamp.includes('unsettled')) {
    folder.ignoreStamp = stamp
    folder.ignoreKey = digest(JSON.stringify(read()))
  }
  return outer.inside({ path: place.path, key: folder.ignoreKey, read })
}

let lastFixed: { readonly key: string; readonly fixed: Fixed } | undefined

/** The same for every save, as a rule, and not cheap to make. */
function fixedRules(around: RulesAround): Fixed {
  const { ignoreCase, defaults, secretNames, allowSecrets, trustedIgnore } = around
  const key = JSON.stringify([ignoreCase, defaults, secretNames, allowSecrets, trustedIgnore])
  if (lastFixed?.key !== key) lastFixed = { key, fixed: compileFixed(around) }
  return lastFixed.fixed
}

function compileFixed(around: RulesAround): Fixed {
  const { ignoreCase, defaults, secretNames, allowSecrets, trustedIgnore } = around
  const compile = (lines: readonly string[], options: { readonly ignoreCase: boolean }) =>
    extend(undefined, compileIgnoreList(lines.join('\n'), ROOT, options))
  return {
    defaults: compile(defaults, { ignoreCase }),
    secretNames: compile(secretNames, { ignoreCase: true }),
    allowedSecrets:
      allowSecrets.length === 0 ? undefined : compile(allowSecrets.map(bytePath), { ignoreCase }),
    trusted: trustedIgnore === undefined ? undefined : compile([trustedIgnore], { ignoreCase }),
  }
}

/** As in an ignore file, a folder stands for all that is in it. */
function isListed(chain: IgnoreChain | undefined, path: BytePath): boolean {
  if (chain === undefined) return false
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    if (verdict(chain, path.slice(0, end) as BytePath, true) === 'ignored') return true
  }
  return verdict(chain, path, false) === 'ignored'
}

function stampOf(path: string): string {
  try {
    const stats = lstatSync(fsPath(path), { bigint: true })
    return isSettled(stats, Date.now()) ? stampText(stats) : 'unsettled'
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return 'absent'
    throw error
  }
}

/** Git reads no ignore file through a link, and neither do we; what cannot be read rules nothing out. */
export function readText(path: string): string {
  return textOf(readStable(path))
}

/** The same for a file of the project: its folder may be swapped for a link, and rules come from the project only. */
function readVerified(path: string): string {
  const folder = new VerifiedFolder()
  try {
    return textOf(folder.read(path, (at) => readStable(at)))
  } finally {
    folder.leave()
  }
}

function textOf(read: StableRead | ReadFault): string {
  return typeof read === 'string' ? '' : read.content.toString('latin1')
}

/** The ignore files between a repository's top and the project inside it, lowest precedence first. */
function listsAbove(
  repository: Repository,
  prefix: BytePath,
): { text: string; prefix: BytePath }[] {
  // At the top of the repository itself these are found by `enterFolder`.
  if (prefix === '') return []
  const lists = [{ text: readText(excludeFileOf(repository)), prefix }]
  const names = prefix.split('/')
  names.forEach((_, depth) => {
    const folder = [repository.worktree, ...names.slice(0, depth)].join('/')
    lists.push({
      text: readText(`${folder}/.gitignore`),
      prefix: names.slice(depth).join('/') as BytePath,
    })
  })
  return lists.filter(({ text }) => text !== '')
}

function digest(...parts: readonly string[]): string {
  return createHash('sha1').update(parts.join('\0')).digest('hex').slice(0, 20)
}
