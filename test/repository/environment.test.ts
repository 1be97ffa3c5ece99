// The tables of environment variables have those that src reads.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** For tests. */
const INTERNAL = 'SAVESTATE_FAILPOINT'
/** No code names it: any variable but a few makes commands and hooks bypass the daemon (daemon.md). */
const BY_PREFIX = 'SAVESTATE_NO_DAEMON'

test('docs/reference/settings.md lists the environment variables that src reads', () => {
  expect(variablesOf('docs/reference/settings.md')).toEqual(variablesRead())
})

test('docs/reference/cli.md lists them without those that only the SDK reads', () => {
  const ofCommands = variablesRead().filter((name) => !name.startsWith('SAVESTATE_REMOTE'))
  expect(variablesOf('docs/reference/cli.md')).toEqual(ofCommands)
})

/** Names in strings of their own, as members and in destructuring. A key can also be in a file (readEnvironmentKey). */
function variablesRead(): string[] {
  const names = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(ROOT, 'src', path), 'utf8'))
    .map((text) => text.replaceAll(/^\s*(?:\/\/|\*|\/\*).*$/gm, ''))
    .flatMap((text) => [
      ...text.matchAll(/'(SAVESTATE_[A-Z_]+)[@']/g),
      ...text.matchAll(/\benv\.(SAVESTATE_[A-Z_]+)/g),
      ...text.matchAll(/[{,]\s*(SAVESTATE_[A-Z_]+)\b[^{}]*\} = [\w.]*\b(?:env|environment)\b/g),
    ])
    .flatMap(([, name = '']) => (name.endsWith('_KEY') ? [name, `${name}_FILE`] : [name]))
    .filter((name) => name !== INTERNAL)
  return [...new Set([...names, BY_PREFIX])].sort()
}

/** In the first column of the page's table of variables. */
function variablesOf(page: string): string[] {
  const [, table = ''] = readFileSync(join(ROOT, page), 'utf8').split(/^\| variable .*$/m)
  const rows = table.split('\n\n')[0]?.match(/^\| `[^|]*\|/gm) ?? []
  return rows.flatMap((row) => row.match(/SAVESTATE_[A-Z_]+/g) ?? []).sort()
}
