// For which files git may store other bytes than the folder has, at the same size. Line endings and `ident` only ever
// make a file longer or shorter, which its size tells; a filter or an encoding may not. So every attribute file that
// counts is read for those two, and what a line with one of them could be about is not taken from the repository.
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { type BytePath, bytePath } from '../../model/index.js'
import { isUnreadable } from '../capture/stats.js'
import { compileIgnoreList, extend, type IgnoreChain, verdict } from '../ignore/ignore-rules.js'
import { readRegularFile } from './regular-file.js'
import type { Repository } from './repository.js'

const MAX_BYTES = 1 << 20
const CONVERTING = /filter|working-tree-encoding/
const MAX_INCLUDES = 30
/** Every file. */
const ALL = '*'

/** The lines of an ignore file that stand for the files an attribute file may convert. */
function convertedBy(attributes: string): readonly string[] {
  const lines = attributes
    .split('\n')
    .filter((line) => CONVERTING.test(line) && !/^[ \t]*#/.test(line))
  return lines.map((line) => {
    const pattern = /^[ \t]*([^ \t\r]+)/.exec(line)?.[1] ?? ALL
    // A macro may stand on any line, a quoted pattern is not read here, and what is negated git does not say.
    return /^(?:\[attr\]|"|!)/.test(pattern) || pattern.endsWith('/') ? ALL : pattern
  })
}

/** What may be converted in a folder and below, by the attribute files of this folder and those above. */
export class Conversions {
  readonly #above: Conversions | undefined
  readonly #load: () => IgnoreChain | undefined
  #chain: { readonly loaded: IgnoreChain | undefined } | undefined

  private constructor(above: Conversions | undefined, load: () => IgnoreChain | undefined) {
    this.#above = above
    this.#load = load
  }

  /** At the top of a repository's worktree, without the attribute file that stands there. */
  static of(repository: Repository): Conversions {
    return new Conversions(undefined, () =>
      chainOf(attributeFiles(repository).flatMap(linesOf), '' as BytePath),
    )
  }

  /** `folder` has an attribute file; its path is from the top of the worktree. */
  inside(folder: { readonly path: BytePath; readonly absolute: string }): Conversions {
    return new Conversions(this, () =>
      chainOf(linesOf(`${folder.absolute}/.gitattributes`), folder.path),
    )
  }

  mayConvert(path: BytePath): boolean {
    this.#chain ??= { loaded: this.#load() }
    if (verdict(this.#chain.loaded, path, false) !== undefined) return true
    return this.#above?.mayConvert(path) === true
  }
}

function chainOf(lines: readonly string[], base: BytePath): IgnoreChain | undefined {
  if (lines.length === 0) return undefined
  // Git may be told to take names without case.
  return extend(undefined, compileIgnoreList(lines.join('\n'), base, { ignoreCase: true }))
}

/** What cannot be read may say anything. */
function linesOf(path: string): readonly string[] {
  const text = textOf(path)
  return text === undefined ? [] : text === null ? [ALL] : convertedBy(text)
}

/** Where those of the machine are, by how its git was built. */
const MACHINE = ['/etc', '/usr/local/etc', '/opt/homebrew/etc', '/opt/local/etc']
/** A folder is no attribute file: whoever reads it finds it unfit, and it may say anything. */
const UNKNOWN = '/'

/** Those that hold for a whole repository: its own, the user's, the machine's, and what a configuration names. */
function attributeFiles({ gitDir, commonDir }: Repository): readonly string[] {
  const home = bytePath(homedir())
  // Git takes one that is empty for none.
  const ours = bytePath(process.env['XDG_CONFIG_HOME'] || `${home}/.config`)
  const own = [`${commonDir}/config`, `${gitDir}/config.worktree`]
  const users = [`${home}/.gitconfig`, `${ours}/git/config`]
  const configs = [...own, ...users, ...MACHINE.map((folder) => `${folder}/gitconfig`)]
  const defaults = [`${commonDir}/info/attributes`, `${ours}/git/attributes`]
  const given = givenByVariables()
  return [
    ...defaults,
    ...MACHINE.map((folder) => `${folder}/gitattributes`),
    ...(given === undefined ? [UNKNOWN] : namedIn([...configs, ...given], home)),
  ]
}

/**
 * The configurations that git's variables name; undefined where these may say more. Those that they take the place of are read
 * too: git may have been asked without them before.
 */
function givenByVariables(): readonly string[] | undefined {
  const { GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM, GIT_ATTR_SOURCE } = process.env
  const isDoubtful = Object.entries(process.env).some(
    ([name, value = '']) =>
      /^GIT_CONFIG_(?:KEY_\d+|PARAMETERS)$/.test(name) &&
      /attributesfile|attr\.|include/i.test(value),
  )
  if (isDoubtful || Boolean(GIT_ATTR_SOURCE)) return undefined
  const named = [GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM].flatMap((path) => path || [])
  return named.every((path) => isAbsolute(path)) ? named.map(bytePath) : undefined
}

/** Attribute files that configurations name, those they include too. A value that is not plain leads to no file. */
function namedIn(configs: readonly string[], home: string): readonly string[] {
  const named: string[] = []
  const queue = [...configs]
  for (const config of queue) {
    const text = textOf(config)
    if (text === undefined) continue
    // Attributes may be in a tree, too.
    if (text === null || queue.length > MAX_INCLUDES || /\[attr\b/i.test(text)) return [UNKNOWN]
    const place = (value: string) => placeOf(value, { home, folder: dirname(config) })
    for (const [, value = ''] of text.matchAll(/attributesfile[ \t]*=[ \t]*([^\r\n]*)/gi))
      named.push(place(value))
    if (!/\[include/i.test(text)) continue
    for (const [, value = ''] of text.matchAll(/\bpath[ \t]*=[ \t]*([^\r\n]*)/gi))
      queue.push(place(value))
  }
  return named
}

function placeOf(value: string, from: { readonly home: string; readonly folder: string }): string {
  const plain = /^"?([^"\\#;%]+?)"?[ \t]*$/.exec(value)?.[1]
  if (plain === undefined || /^~[^/]/.test(plain)) return UNKNOWN
  if (plain.startsWith('~/')) return join(from.home, plain.slice(2))
  return isAbsolute(plain) ? plain : join(from.folder, plain)
}

/** Null for what is there and cannot be read. */
function textOf(path: string): string | null | undefined {
  try {
    const bytes = readRegularFile(path, MAX_BYTES)
    if (bytes === 'absent') return undefined
    return bytes === 'unfit' ? null : bytes.toString('latin1')
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}
