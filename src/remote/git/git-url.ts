// The URL of a git repository. Credentials are taken out of it: git would put them into arguments and messages, which others can read.
import { SavestateError } from '../../model/index.js'

export type GitTarget = {
  /** Without a password, and over HTTP without a user. */
  readonly url: string
  readonly credentials: { readonly username: string; readonly password: string } | null
  /** For messages. */
  readonly label: string
}

/** Throws BAD_INPUT. No message has the URL: it may have a password. */
export function parseGitUrl(text: string): GitTarget {
  // git@host:path
  if (!text.includes('://')) return { url: text, credentials: null, label: text }
  if (!URL.canParse(text)) throw malformed()
  const url = new URL(text)
  const isHttp = /^https?:$/.test(url.protocol)
  const [username, password] = [decode(url.username), decode(url.password)]
  const credentials = isHttp && username + password !== '' ? { username, password } : null
  if (!isHttp && password !== '')
    throw new SavestateError('BAD_INPUT', 'Only HTTP takes a password in the URL of a repository', {
      hint: 'Use a key for SSH.',
    })
  if (credentials === null) return { url: text, credentials, label: labelOf(url) }
  url.username = ''
  url.password = ''
  return { url: url.href, credentials, label: labelOf(url) }
}

/** A query may have a token. */
function labelOf(url: URL): string {
  const user = url.username === '' ? '' : `${url.username}@`
  return `${url.protocol}//${user}${url.host}${url.pathname}`
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) throw malformed()
    throw error
  }
}

function malformed(): SavestateError {
  return new SavestateError('BAD_INPUT', 'The URL of the git repository is malformed', {
    hint: 'Write special characters of a password as %40, or use a credential helper of git.',
  })
}
