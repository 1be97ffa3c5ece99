// The URL of a remote. It may contain a password, so messages show its label instead, and no error here repeats its text.
import { SavestateError } from '../errors.js'

export type RemoteKind = 'postgres' | 'git'

export type RemoteAddress = {
  readonly kind: RemoteKind
  /** As it is stored and passed to the driver. */
  readonly url: string
  /** For people: without user, password, query and fragment. */
  readonly label: string
}

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]', '']
const GIT_SCHEMES = ['https:', 'ssh:', 'file:', 'http:', 'git:']
const UNENCRYPTED = ['http:', 'git:']
/** `user@host:path`, which is no URL. Not `transport::address`, with which git starts other programs. */
const SCP_LIKE = /^(?:([\w.-]+)@)?([\w.-]+):(?!:)([^\s]+)$/

/** An absolute path is a git repository on this machine. Throws BAD_INPUT, without the text of the URL. */
export function parseRemoteUrl(text: string): RemoteAddress {
  if (text.startsWith('/') && !/[\0\n]/.test(text)) return { kind: 'git', url: text, label: text }
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? tryParse(text) : undefined
  if (url !== undefined) return addressOf(url, text)
  const scp = SCP_LIKE.exec(text)
  if (scp === null || /^[a-z]:[\\/]/i.test(text) || scp[2]?.startsWith('-') === true)
    throw refusal()
  return { kind: 'git', url: text, label: `${scp[2]}:${scp[3]}` }
}

function addressOf(url: URL, text: string): RemoteAddress {
  const { protocol, hostname, pathname } = url
  if (protocol === 'postgres:' || protocol === 'postgresql:')
    return { kind: 'postgres', url: text, label: databaseLabel(url) }
  if (!GIT_SCHEMES.includes(protocol)) throw refusal()
  if (UNENCRYPTED.includes(protocol) && !LOCAL_HOSTS.includes(hostname))
    throw new SavestateError(
      'BAD_INPUT',
      `A remote over ${protocol}// would send everything unencrypted`,
      { hint: 'Use https:// or ssh://.' },
    )
  if (protocol !== 'file:' && hostname.startsWith('-')) throw refusal()
  return { kind: 'git', url: text, label: `${protocol}//${url.host}${pathname}` }
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

function tryParse(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw refusal()
  return url
}

function refusal(): SavestateError {
  return new SavestateError('BAD_INPUT', 'That is not the URL of a remote', {
    hint: 'It is postgres://HOST/DATABASE, or a git repository: https://HOST/PATH, ssh://HOST/PATH, user@HOST:PATH, file:///PATH or a path.',
  })
}
