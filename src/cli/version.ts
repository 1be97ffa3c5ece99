// The version of the package.
import { readFileSync } from 'node:fs'

/** As seen from src/cli and from dist/cli. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const manifest: { version?: unknown } = JSON.parse(text)
  return String(manifest.version)
}
