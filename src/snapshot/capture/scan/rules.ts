// The ignore rules of each folder. `.savestateignore` takes precedence, then git's own ignore files, then our defaults.
// Files are read and compiled only when a name has to be decided: an unchanged folder only compares keys.
import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { ifExists } from '../../../base/index.js'
import {
  type BytePath,
  bytePath,
  DEFAULT_EXCLUDES,
  type EffectiveRules,
  fsPath,
  ROOT,
  SECRET_NAMES,
} from '../../../model/index.js'
import { enclosingRepository, excludeFileOf, type Repository } from '../../checkout/repository.js'
import {
  compileIgnoreList,
  extend,
  type IgnoreChain,
  joinChains,
  findVerdict,
} from '../../ignore/ignore-rules.js'
import type { FolderNode } from '../stat-cache/node.js'
import { type ReadFault, readStable, type StableRead } from '../hash/read-file.js'
import type { CaptureTarget } from '../capture-target.js'
import { isStampStable, stampText } from '../stat-cache/stats.js'
import { VerifiedFolder } from './verified-folder.js'

export const IGNORE_FILES = ['.gitignore', '.savestateignore'] as const

type Chains = { readonly own: IgnoreChain | undefined; readonly git: IgnoreChain | undefined }
type Source = { readonly file: (typeof IGNORE_FILES)[number] | 'exclude'; readonly text: string }

/** Rules that apply in every folder of a project. */
type Fixed = {
  readonly defaults: IgnoreChain
  readonly secretNames: IgnoreChain
  readonly allowedSecrets: IgnoreChain | undefined
  /** The project's `.savestateignore`, if the user trusts it. */
  readonly trusted: IgnoreChain | undefined
}

/** The rules that apply to the project before any file in it is read. */
export type RulesAround = Omit<EffectiveRules, 'excludes'>

export function rulesAround(
  { ignoreCase, limits }: CaptureTarget,
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
  /** Folders with equal keys have the same rules. */
  readonly key: string
  readonly #load: () => Chains
  readonly #fixed: () => Fixed
  #chains: Chains | undefined
  /** All lists that can ignore a path, in one chain. */
  #all: { readonly chain: IgnoreChain | undefined } | undefined

  private constructor(key: string, fixed: () => Fixed, load: () => Chains) {
    this.key = key
    this.#fixed = fixed
    this.#load = load
  }

  /** The rules above the project's folder: the defaults and those of the enclosing repository. */
  static above(target: CaptureTarget, around: RulesAround): Rules {
    const { defaults, secretNames, above } = around
    // A rewind does not change the rules.
    const { rewinding: _, ...lasting } = target
    const key = digest(
      JSON.stringify([defaults, secretNames]),
      JSON.stringify(lasting),
      JSON.stringify(above),
    )
    return Rules.#from(key, around)
  }

  /** The rules that a checkpoint recorded. */
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

  /** The rules inside a folder. `read` returns its ignore files; `key` identifies their contents. */
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
    this.#all ??= this.#joinChains()
    return findVerdict(this.#all.chain, path, isFolder) === 'ignored'
  }

  /** Whether the path alone marks a file as a secret. */
  namesSecret(path: BytePath): boolean {
    return findVerdict(this.#fixed().secretNames, path, false) === 'ignored'
  }

  /** Whether the user allows a secret to be captured, by settings or by a trusted `.savestateignore`. */
  allowsSecret(path: BytePath): boolean {
    const { trusted, allowedSecrets } = this.#fixed()
    const own = findVerdict(trusted, path, false)
    if (own !== undefined) return own === 'included'
    return isListed(allowedSecrets, path)
  }

  #joinChains(): { readonly chain: IgnoreChain | undefined } {
    const { own, git } = this.#resolve()
    return { chain: joinChains(own, joinChains(git, this.#fixed().defaults)) }
  }

  #resolve(): Chains {
    this.#chains ??= this.#load()
    return this.#chains
  }
}

/**
 * The rules inside `folder`; `present` names its ignore files. The node remembers their stamp and digest, so that the next
 * save reads them again only if they changed.
 */
export function enterFolder(
  outer: Rules,
  folder: FolderNode,
  location: {
    readonly path: BytePath
    readonly absolute: string
    readonly present: readonly string[]
    readonly repository: Repository | undefined
  },
): Rules {
  const files: { file: Source['file']; path: string }[] = []
  if (location.repository !== undefined)
    files.push({ file: 'exclude', path: excludeFileOf(location.repository) })
  for (const file of IGNORE_FILES) {
    if (location.present.includes(file)) files.push({ file, path: `${location.absolute}/${file}` })
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
  if (stamp !== folder.ignoreStamp || stamp.includes('unstable')) {
    folder.ignoreStamp = stamp
    folder.ignoreKey = digest(JSON.stringify(read()))
  }
  return outer.inside({ path: location.path, key: folder.ignoreKey, read })
}

let lastFixed: { readonly key: string; readonly fixed: Fixed } | undefined

/** Cached, because compiling is slow and the input rarely changes between saves. */
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

/** As in an ignore file, a listed folder includes its contents. */
function isListed(chain: IgnoreChain | undefined, path: BytePath): boolean {
  if (chain === undefined) return false
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    if (findVerdict(chain, path.slice(0, end) as BytePath, true) === 'ignored') return true
  }
  return findVerdict(chain, path, false) === 'ignored'
}

function stampOf(path: string): string {
  const stats = ifExists(() => lstatSync(fsPath(path), { bigint: true }), 'ELOOP', 'EACCES')
  if (stats === undefined) return 'absent'
  return isStampStable(stats, Date.now()) ? stampText(stats) : 'unstable'
}

/** Like git, does not follow links. An unreadable file has no rules. */
export function readText(path: string): string {
  return textOf(readStable(path))
}

/** Like `readText`, but safe if another process swaps the folder for a link to a folder outside the project. */
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

/** The ignore files between the top of a repository and the project inside it, lowest precedence first. */
function listsAbove(
  repository: Repository,
  prefix: BytePath,
): { text: string; prefix: BytePath }[] {
  // `enterFolder` finds those at the top of a repository.
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
