// Explains git's complaints about a server as REMOTE_UNREACHABLE (a retry may help) or REMOTE_REFUSED (it does not). Git has no error codes; with
// LC_ALL=C its texts are stable.
import { SavestateError } from '../../model/index.js'
import { diskFull, type GitRun, isDiskFull } from './git-process.js'
import type { GitTarget } from './git-url.js'

const NO_LOGIN =
  /could not read (?:Username|Password)|Authentication failed|terminal prompts disabled|Permission denied|returned error: 40[13]|Access denied|access denied|Host key verification failed|Invalid username or|HTTP Basic: Access/
const NO_REPOSITORY =
  /does not appear to be a git repository|[Rr]epository .*not found|returned error: 404|repository not exported|not found: did you run|dubious ownership|unsafe repository/
const BAD_CERTIFICATE = /certificate|SSL peer|gnutls_handshake/
const FORBIDDEN =
  /transport '[^']*' not allowed|is not a valid|service not enabled|does not support --atomic/
const MAX_TEXT = 400

export function explainFailure(run: GitRun, target: GitTarget): SavestateError {
  if (isDiskFull(run.complaints)) return diskFull()
  const text = maskCredentials(shorten(run.complaints), target)
  const refuse = (hint: string) =>
    new SavestateError('REMOTE_REFUSED', `${target.label}: ${text}`, { hint })
  if (run.isStalled) return unreachable(target, 'the server does not answer')
  if (BAD_CERTIFICATE.test(text))
    return refuse(
      'Set `http.sslCAInfo` in your git configuration to the certificate of its issuer.',
    )
  if (NO_LOGIN.test(text))
    return refuse(
      'Check that `git ls-remote` of this URL works without a question: with a key for SSH, or a credential helper for HTTPS.',
    )
  if (NO_REPOSITORY.test(text))
    return refuse('Check the URL, and create an empty repository there.')
  if (FORBIDDEN.test(text)) return refuse('Use a server that allows this.')
  return unreachable(target, text)
}

export function unreachable({ label }: GitTarget, text: string): SavestateError {
  return new SavestateError('REMOTE_UNREACHABLE', `${label}: ${text}`, {
    hint: 'Check the network and the server, then try again.',
  })
}

/** The server has rejected an update, with this reason. */
export function rejected(target: GitTarget, reason: string, run: GitRun): SavestateError {
  const said = run.complaints
    .split('\n')
    .filter((line) => line.startsWith('remote:'))
    .map((line) => line.slice('remote:'.length).trim())
    .filter((line) => line !== '')
  const text = maskCredentials(shorten([reason, ...said].join('; ')), target)
  return new SavestateError('REMOTE_REFUSED', `${target.label}: the server said: ${text}`, {
    hint: 'Allow pushes to refs/savestate/ on the server, or use another repository.',
  })
}

/** Git masks passwords in most messages; a server may repeat them in its own. */
export function maskCredentials(text: string, { credentials }: GitTarget): string {
  if (credentials === null) return text
  const secrets = [credentials.password, credentials.username].filter(({ length }) => length > 3)
  return secrets
    .flatMap((secret) => [secret, encodeURIComponent(secret)])
    .reduce((masked, secret) => masked.replaceAll(secret, '***'), text)
}

/** The end has the reason; progress and hints for people come before. */
function shorten(complaints: string): string {
  const lines = complaints
    .split(/[\r\n]+/)
    .filter((line) => !/^(?:hint|warning):|\d+% \(|^Total |^Everything up-to-date/.test(line))
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return lines.join('; ').slice(-MAX_TEXT)
}
