// The URL of a PostgreSQL remote. TLS is on, and the certificate verified, unless the host is this machine; `sslmode` weakens it only if it
// says so itself:
//
//   absent, verify-full, verify-ca, require, prefer   TLS, certificate and host name verified
//   no-verify                                         TLS without verification
//   disable                                           no TLS
//
// `require` is stricter than in libpq, where it verifies nothing: a URL of a hosting service has it, and its users expect to be safe.
import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { SavestateError } from '../../model/index.js'
import { DEFAULT_SCHEMA } from './schema-sql.js'

export type PostgresTarget = {
  /** For pg, without the parameters that are read here. Has the password. */
  readonly connectionString: string
  readonly ssl: ConnectionOptions | false
  readonly schema: string
  /** For messages: host, port if it is not 5432, database, schema if it is not the default. */
  readonly label: string
}

const VERIFIED = ['verify-full', 'verify-ca', 'require', 'prefer']
const LOCAL_HOST = /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?|\/.*)$/

/** Throws BAD_INPUT. No message has the URL: it may have a password. */
export function parsePostgresUrl(text: string, schemaOption?: string): PostgresTarget {
  const url = parse(text)
  const take = (name: string) => {
    const value = url.searchParams.get(name)
    url.searchParams.delete(name)
    return value ?? undefined
  }
  const schema = schemaOption ?? take('schema') ?? DEFAULT_SCHEMA
  take('schema')
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  const mode = take('sslmode')
  const files = { ca: take('sslrootcert'), cert: take('sslcert'), key: take('sslkey') }
  const isLocal = host === '' || LOCAL_HOST.test(host)
  const ssl = tlsOptions(mode ?? (isLocal ? 'disable' : 'verify-full'), files)
  const database = decodeURIComponent(url.pathname.slice(1))
  const port = url.port === '' || url.port === '5432' ? '' : `:${url.port}`
  const suffix = schema === DEFAULT_SCHEMA ? '' : ` (schema ${schema})`
  return {
    connectionString: url.href,
    ssl,
    schema,
    label: `${host === '' ? 'localhost' : host}${port}/${database}${suffix}`,
  }
}

function parse(text: string): URL {
  // The error of URL has its input. `postgres:///database` is valid for PostgreSQL.
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined) return url
  throw new SavestateError('BAD_INPUT', 'The URL of the PostgreSQL remote is malformed', {
    hint: 'It is postgres://user@host/database. Write special characters of a password as %40, or put it into PGPASSFILE.',
  })
}

function tlsOptions(
  mode: string,
  files: Readonly<Record<'ca' | 'cert' | 'key', string | undefined>>,
): ConnectionOptions | false {
  if (mode === 'disable') return false
  if (mode !== 'no-verify' && !VERIFIED.includes(mode))
    throw new SavestateError('BAD_INPUT', `Savestate does not know sslmode=${mode}`, {
      hint: `It is one of ${VERIFIED.join(', ')}, no-verify, disable.`,
    })
  const contents = Object.entries(files)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, path]) => [name, readFileSync(path)] as const)
  return { ...Object.fromEntries(contents), rejectUnauthorized: mode !== 'no-verify' }
}
