// The version of the package.
import { readFileSync, statSync } from 'node:fs'

/** Beside this file, once it is built. */
const PROGRAM = './bin.js'

type Manifest = { readonly version?: unknown; readonly bugs?: string | { readonly url?: string } }

export function version(): string {
  return String(manifest().version)
}

/** The address for bug reports; undefined if package.json has none. */
export function bugsUrl(): string | undefined {
  const { bugs } = manifest()
  return typeof bugs === 'string' ? bugs : bugs?.url
}

/** As seen from src/cli and from dist/cli. */
function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
}

/** Differs between two builds, also of one version: a daemon whose files were replaced is not served by its own any more. */
export function build(): string {
  const { mtimeMs } = statSync(new URL(PROGRAM, import.meta.url))
  return `${version()} ${mtimeMs}`
}
