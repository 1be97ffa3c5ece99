// The URL of a remote. It may contain a password, so messages show its label instead, and no error here repeats its text.
import { SavestateError } from '../errors.js'

export type RemoteKind = 'postgres' | 'git'

export type RemoteAddress = {
  readonly kind: RemoteKind
  /** As it is stored and passed to the driver. */
  readonly url: string
  /** For people: without user, password, query and fragment. */
  readonly label: string
  /** PostgreSQL: `schema` of the query. */
  readonly schema: string | null
}

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]', '']
const GIT_SCHEMES = ['https:', 'ssh:', 'file:', 'http:', 'git:']
const UNENCRYPTED = ['http:', 'git:']
/** `user@host:path`, which is no URL. Not `transport::address`, with which git starts other programs. */
const SCP_LIKE = /^[\w.-]+@([\w.-]+):(?!:)(\S+)$/

/** An absolute path is a git repository on this machine. Throws BAD_INPUT, without the text of the URL. */
export function parseRemoteUrl(text: string): RemoteAddress {
  if (text.startsWith('/') && !text.includes('\0')) return parseRemoteUrl(fileUrl(text))
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return addressOf(parse(text), text)
  const [, host, path] = SCP_LIKE.exec(text) ?? []
  if (host === undefined || host.startsWith('-')) throw refusal()
  return { kind: 'git', url: text, label: `${host}:${path}`, schema: null }
}

function fileUrl(path: string): string {
  return `file://${path.split('/').map(encodeURIComponent).join('/')}`
}

function addressOf(url: URL, text: string): RemoteAddress {
  const { protocol, hostname, pathname } = url
  if (protocol === 'postgres:' || protocol === 'postgresql:')
    return {
      kind: 'postgres',
      url: text,
      label: databaseLabel(url),
      schema: url.searchParams.get('schema'),
    }
  if (!GIT_SCHEMES.includes(protocol)) throw refusal()
  if (UNENCRYPTED.includes(protocol) && !LOCAL_HOSTS.includes(hostname))
    throw new SavestateError(
      'BAD_INPUT',
      `A remote over ${protocol}// would send everything unencrypted`,
      { hint: 'Use https:// or ssh://.' },
    )
  if (protocol !== 'file:' && hostname.startsWith('-')) throw refusal()
  return { kind: 'git', url: text, label: `${protocol}//${url.host}${pathname}`, schema: null }
}

/** Host and database, as in `db.example.org/agents`. */
function databaseLabel(url: URL): string {
  const host = url.host === '' ? (url.searchParams.get('host') ?? 'localhost') : url.host
  const database = decoded(url.pathname.slice(1))
  return database === '' ? host : `${host}/${database}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) throw refusal()
    throw error
  }
}

/** The error of URL has its input. */
function parse(text: string): URL {
  if (!URL.canParse(text)) throw refusal()
  return new URL(text)
}

function refusal(): SavestateError {
  return new SavestateError('BAD_INPUT', 'That is not the URL of a remote', {
    hint: 'It is postgres://HOST/DATABASE, or a git repository: https://HOST/PATH, ssh://HOST/PATH, user@HOST:PATH, file:///PATH or an absolute path.',
  })
}
