// The version of the package.
import { readFileSync, statSync } from 'node:fs'

/** As seen from src/cli and from dist/cli. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const manifest: { version?: unknown } = JSON.parse(text)
  return String(manifest.version)
}

/** Differs between two builds, also of one version: a daemon whose files were replaced is not served by its own any more. */
export function build(): string {
  const { mtimeMs } = statSync(new URL('./bin.js', import.meta.url))
  return `${version()} ${mtimeMs}`
}
