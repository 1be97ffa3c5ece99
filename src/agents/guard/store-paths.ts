// Checks whether a text names a path in the store. Compares real paths, because a home that is a symbolic link, or a link in
// the project, gives the store another name.
import { realpathSync } from 'node:fs'
import { isAbsolute, join, normalize, relative, sep } from 'node:path'
import { hasCode, isWithin } from '../../base/index.js'

export type PathOptions = {
  /** The folder that the tool runs in; absolute. */
  readonly cwd: string | undefined
  /** The user's home, for `~`. */
  readonly home: string | undefined
  readonly storeHome: string
}

/** A longer text is not a path. */
const MAX_CHARS = 4096
const GLOB = /[*?[{]/

export class StorePaths {
  readonly #options: PathOptions
  readonly #store: string

  constructor(options: PathOptions) {
    this.#options = options
    this.#store = resolvePath(options.storeHome)
  }

  /** `bases`: folders besides `cwd` that a relative path may start from. */
  has(text: string, bases: readonly string[] = []): boolean {
    if (text === '' || text.length > MAX_CHARS || /[\n\0]/.test(text)) return false
    const path = this.#expand(text)
    const { cwd = '/' } = this.#options
    const starts = isAbsolute(path) ? [''] : [cwd, ...bases.map((base) => this.#absolute(base))]
    return starts.some((start) => this.#isInside(start === '' ? path : `${start}/${path}`))
  }

  #isInside(path: string): boolean {
    if (GLOB.test(path)) return this.#matches(path)
    // By name and by real path. Only the kernel resolves `link/..` correctly.
    return [normalize(path), resolvePath(path)].some(
      (one) => isWithin(this.#store, one) || isWithin(this.#options.storeHome, one),
    )
  }

  /** A pattern names the store if its first components match all components of the store's path. */
  #matches(pattern: string): boolean {
    const parts = pattern.split('/')
    const first = parts.findIndex((part) => GLOB.test(part))
    const start = parts.slice(0, first).join('/') || '/'
    if (this.#isInside(start)) return true
    const globs = parts.slice(first)
    return [normalize(start), resolvePath(start)].some((folder) =>
      [this.#store, this.#options.storeHome].some((store) => {
        const names = relative(folder, store).split(sep)
        return (
          isWithin(folder, store) && names.every((name, at) => matchesName(globs[at] ?? '', name))
        )
      }),
    )
  }

  #absolute(base: string): string {
    const path = this.#expand(base)
    return isAbsolute(path) ? path : join(this.#options.cwd ?? '/', path)
  }

  #expand(text: string): string {
    const { home, storeHome } = this.#options
    const path = text.startsWith('file:') ? pathOfUri(text) : text
    const inStore = path.replace(/^\$(?:SAVESTATE_HOME\b|\{SAVESTATE_HOME[^}]*\})/, () => storeHome)
    if (home === undefined) return inStore
    return inStore.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, () => home)
  }
}

/** The real path of the nearest parent that exists, and the rest as it is. */
function resolvePath(path: string): string {
  const found = realPath(path)
  const end = path.replace(/\/+$/, '').lastIndexOf(sep)
  if (found !== undefined || end < 0) return found ?? path
  return join(end === 0 ? '/' : resolvePath(path.slice(0, end)), path.slice(end + 1))
}

const UNRESOLVED = ['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG']

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (hasCode(error, ...UNRESOLVED)) return undefined
    throw error
  }
}

/** `file:///a%20b` and `file://host/a`. */
function pathOfUri(uri: string): string {
  const path = uri.replace(/^file:(?:\/\/[^/]*)?(?=\/)/, '')
  return path.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
  )
}

/** Matches one component of a path. `**` names no particular folder, so it matches nothing. */
function matchesName(glob: string, name: string): boolean {
  if (glob.includes('**') || (name.startsWith('.') && /^[*?]/.test(glob))) return false
  const source = glob.replaceAll(SIGN, (sign) => {
    if (sign === '*') return '.*'
    if (sign === '?' || sign.startsWith('[')) return '.'
    if (sign.startsWith('{') && sign.length > 1)
      return `(?:${sign.slice(1, -1).split(',').map(escapeForRegExp).join('|')})`
    return escapeForRegExp(sign)
  })
  return new RegExp(`^${source}$`).test(name)
}

const SIGN = /\*|\?|\[[^\]]+\]|\{[^{}]*\}|[.+^$()|\\{}[\]]/g

function escapeForRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
