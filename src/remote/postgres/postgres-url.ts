// The URL of a PostgreSQL remote. TLS is on, and the certificate verified, unless the host is this machine; `sslmode` weakens it only if it
// says so itself:
//
//   absent, verify-full, verify-ca, require, prefer   TLS, certificate and host name verified
//   no-verify                                         TLS without verification
//   disable                                           no TLS
//
// `require` is stricter than in libpq, where it verifies nothing: a URL of a hosting service has it, and its users expect to be safe.
import { readFileSync } from 'node:fs'
import process from 'node:process'
import type { ConnectionOptions } from 'node:tls'
import { SavestateError } from '../../model/index.js'
import { DEFAULT_SCHEMA, quoteSchema } from './schema-sql.js'

export type PostgresTarget = {
  /** Without `password` if the URL has none. */
  readonly login: {
    readonly host?: string
    readonly port?: number
    readonly user?: string
    readonly password?: string
    readonly database?: string
    readonly application_name?: string
    readonly options?: string
  }
  readonly ssl: ConnectionOptions | false
  readonly schema: string
  /** For messages: host, port if it is not 5432, database, schema if it is not the default. */
  readonly label: string
}

const VERIFIED = ['verify-full', 'verify-ca', 'require', 'prefer']
const LOCAL_HOST = /^(?:localhost|127(?:\.\d+){3}|::1|\/.*)$/

/** Throws BAD_INPUT. No message has the URL: it may have a password. */
export function parsePostgresUrl(text: string, schemaOption?: string): PostgresTarget {
  const url = parse(text)
  const parameter = (name: string) => url.searchParams.get(name) ?? undefined
  const given = (name: string, value: string | undefined) =>
    value === undefined || value === '' ? {} : { [name]: value }
  const schema = schemaOption ?? parameter('schema') ?? DEFAULT_SCHEMA
  quoteSchema(schema)
  const hostname = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1')
  // Without a host, pg uses this variable: TLS must not depend on who reads it.
  const host = parameter('host') ?? (hostname === '' ? (process.env['PGHOST'] ?? '') : hostname)
  const database = decodeURIComponent(url.pathname.slice(1))
  const isLocal = host === '' || LOCAL_HOST.test(host)
  const ssl = tlsOptions(parameter('sslmode') ?? (isLocal ? 'disable' : 'verify-full'), {
    ca: parameter('sslrootcert'),
    cert: parameter('sslcert'),
    key: parameter('sslkey'),
  })
  const port = url.port === '' || url.port === '5432' ? '' : `:${url.port}`
  const suffix = schema === DEFAULT_SCHEMA ? '' : ` (schema ${schema})`
  return {
    login: {
      ...given('host', host),
      ...(url.port === '' ? {} : { port: Number(url.port) }),
      ...given('user', parameter('user') ?? decodeURIComponent(url.username)),
      ...given('password', parameter('password') ?? decodeURIComponent(url.password)),
      ...given('database', database),
      ...given('application_name', parameter('application_name')),
      ...given('options', parameter('options')),
    },
    ssl,
    schema,
    label: `${host === '' ? 'localhost' : host}${port}/${database}${suffix}`,
  }
}

function parse(text: string): URL {
  // The error of URL has its input.
  if (URL.canParse(text) && isDecodable(text)) return new URL(text)
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

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}
