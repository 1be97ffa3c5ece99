// The version of the package, and the file of the program.
import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

type Manifest = { readonly version?: unknown; readonly bugs?: string | { readonly url?: string } }

export function version(): string {
  return String(manifest().version)
}

/** The address for bug reports; undefined if package.json has none. */
export function bugsUrl(): string | undefined {
  const { bugs } = manifest()
  return typeof bugs === 'string' ? bugs : bugs?.url
}

/** Beside this file in dist/cli. */
const PROGRAM = './bin.js'

export function programPath(): string {
  return fileURLToPath(new URL(PROGRAM, import.meta.url))
}

/** Differs between two builds, even of one version: a daemon serves only callers of its own build. */
export function build(): string {
  return `${version()} ${statSync(programPath()).mtimeMs}`
}

/** At the same distance from src/base and from dist/cli. */
function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
}
