// The password file of PostgreSQL (PGPASSFILE, else ~/.pgpass): lines of host:port:database:user:password, where * is any and a backslash
// escapes. pg 8 reads it too, but prints a warning that this will end.
import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { ifExists, readIfExists } from '../../base/index.js'

export type LoginTarget = {
  readonly host: string
  readonly port: number
  readonly database?: string | undefined
  readonly user?: string | undefined
}

/** Undefined without a matching line. A file that others may read is ignored, as PostgreSQL does. */
export function findPassword(target: LoginTarget): string | undefined {
  const path = process.env['PGPASSFILE'] ?? join(homedir(), '.pgpass')
  const stats = ifExists(() => statSync(path))
  if (stats === undefined || (process.platform !== 'win32' && (stats.mode & 0o077) !== 0))
    return undefined
  const host = target.host.startsWith('/') ? 'localhost' : target.host
  const wanted = [host, String(target.port), target.database ?? '', target.user ?? '']
  const lines = (readIfExists(path)?.toString('utf8') ?? '').split(/\r?\n/)
  for (const line of lines) {
    if (line.startsWith('#')) continue
    const fields = [...line.matchAll(/((?:\\.|[^\\:])*)(?::|$)/g)].map((match) =>
      (match[1] ?? '').replaceAll(/\\(.)/g, '$1'),
    )
    const isMatch = wanted.every((value, index) => fields[index] === '*' || fields[index] === value)
    if (isMatch && fields[4] !== undefined) return fields[4]
  }
  return undefined
}
