// What is left out, folder by folder. `.savestateignore` has the last word, then git's own ignore files,
// then our defaults. Reading and compiling is put off until a name has to be decided: an unchanged folder
// only compares keys.
import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { type BytePath, DEFAULT_EXCLUDES, fsPath, hasCode, ROOT } from '../../model/index.js'
import { enclosingRepository, excludeFileOf, type Repository } from '../checkout/repository.js'
import { compileIgnoreList, extend, type IgnoreChain, verdict } from '../ignore/ignore-rules.js'
import type { FolderNode } from './node.js'
import { readStable } from './read-file.js'
import type { Site } from './site.js'
import { isSettled, stampText } from './stats.js'

export const IGNORE_FILES = ['.gitignore', '.savestateignore'] as const

type Chains = { readonly own: IgnoreChain | undefined; readonly git: IgnoreChain | undefined }
type Source = { readonly file: (typeof IGNORE_FILES)[number] | 'exclude'; readonly text: string }

export class Rules {
  /** Two folders with equal keys are decided alike. */
  readonly key: string
  readonly #load: () => Chains
  readonly #defaults: IgnoreChain
  #chains: Chains | undefined

  private constructor(key: string, defaults: IgnoreChain, load: () => Chains) {
    this.key = key
    this.#defaults = defaults
    this.#load = load
  }

  /** The rules above the project's own folder: defaults, and the repository it lies in. */
  static above(site: Site, enclosing: ReturnType<typeof enclosingRepository>): Rules {
    const options = { ignoreCase: site.ignoreCase }
    const defaults = extend(
      undefined,
      compileIgnoreList(DEFAULT_EXCLUDES.join('\n'), ROOT, options),
    )
    const lists = enclosing === undefined ? [] : listsAbove(enclosing.repository, enclosing.prefix)
    const key = digest(DEFAULT_EXCLUDES.join('\n'), JSON.stringify(site), JSON.stringify(lists))
    return new Rules(key, defaults, () => {
      let git: IgnoreChain | undefined
      for (const { text, prefix } of lists)
        git = extend(git, compileIgnoreList(text, ROOT, { ...options, prefix }))
      return { own: undefined, git }
    })
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
    return new Rules(digest(this.key, path, key), this.#defaults, () => {
      let { own, git } = this.#resolve()
      for (const { file, text } of read()) {
        const list = compileIgnoreList(text, path, { ignoreCase: this.#defaults.list.ignoreCase })
        if (file === '.savestateignore') own = extend(own, list)
        else git = extend(git, list)
      }
      return { own, git }
    })
  }

  isIgnored(path: BytePath, isFolder: boolean): boolean {
    const { own, git } = this.#resolve()
    const decision =
      verdict(own, path, isFolder) ??
      verdict(git, path, isFolder) ??
      verdict(this.#defaults, path, isFolder)
    return decision === 'ignored'
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
  const read = () => files.map(({ file, path }) => ({ file, text: readText(path) }))
  if (stamp !== folder.ignoreStamp || stamp.includes('unsettled')) {
    folder.ignoreStamp = stamp
    folder.ignoreKey = digest(JSON.stringify(read()))
  }
  return outer.inside({ path: place.path, key: folder.ignoreKey, read })
}

function stampOf(path: string): string {
  try {
    const stats = lstatSync(fsPath(path), { bigint: true })
    return isSettled(stats, Date.now()) ? stampText(stats) : 'unsettled'
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return 'absent'
    throw error
  }
}

/** Git reads no ignore file through a link, and neither do we; what cannot be read rules nothing out. */
function readText(path: string): string {
  const read = readStable(path)
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
