// Errors of PostgreSQL, of the network and of TLS, as REMOTE_UNREACHABLE (a retry may help) or REMOTE_REFUSED (it does not).
import { hasCode, isError } from '../../base/index.js'
import { SavestateError } from '../../model/index.js'

export type PostgresErrorContext = { readonly label: string; readonly schema: string }

/** SQLSTATE classes and codes that end by themselves: connections, resources (a full disk), shutdown, deadlock, a standby. */
const PASSING = /^(?:08|53|57|58|40|55|XX)|^25006$/
/** No class begins with E, and the codes of Node do: EPERM and EPIPE have five letters too. */
const SQLSTATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/
const NO_TLS = /server does not support SSL|^There was an error establishing an SSL connection/
const NO_PASSWORD = /^SASL: .*password/

export function isForeignKeyViolation(error: unknown, ...constraints: readonly string[]): boolean {
  return (
    isError(error) &&
    hasCode(error, '23503') &&
    'constraint' in error &&
    typeof error.constraint === 'string' &&
    constraints.includes(error.constraint)
  )
}

/** The table or the schema does not exist. */
export function isUndefinedTable(error: unknown): boolean {
  return hasCode(error, '42P01', '3F000')
}

/**
 * For what `pg`, or a client of the caller, has thrown. A connection can fail in more ways than a list can have, so an error counts as
 * one of the connection unless it is an answer of the server.
 */
export function explainPostgresError(
  error: unknown,
  context: PostgresErrorContext,
): SavestateError {
  if (error instanceof SavestateError) return error
  const { label, schema } = context
  if (!isError(error)) return unreachable(label, String(error), error)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const refuse = (message: string, hint: string) =>
    new SavestateError('REMOTE_REFUSED', `${label}: ${message}`, { hint, cause: error })
  if (isUndefinedTable(error)) return noTables(context, error)
  if (SQLSTATE.test(code)) {
    if (PASSING.test(code)) return unreachable(label, error.message, error)
    if (code.startsWith('28') || code === '3D000')
      return refuse(error.message, 'Check the user, the password and the database in the URL.')
    if (code === '42501')
      return refuse(
        error.message,
        `Ask the administrator of the database for the rights that \`savestate remote init --print-sql\` grants in the schema ${schema}.`,
      )
    return refuse(
      error.message,
      'The server rejected a statement. Run `savestate verify --remote`.',
    )
  }
  if (NO_PASSWORD.test(error.message))
    return refuse(
      'the server asks for a password',
      'Put it into the file that PGPASSFILE names, into PGPASSWORD, or into the URL.',
    )
  if (NO_TLS.test(error.message))
    return refuse(
      'the server does not support TLS',
      'Ask for TLS on the server. Add `sslmode=disable` to the URL only inside a network that you trust.',
    )
  if (isCertificateError(code))
    return refuse(
      `the certificate of the server is not valid: ${error.message}`,
      'Add `sslrootcert=FILE` to the URL with the certificate of the authority that issued it.',
    )
  return unreachable(label, messageOf(error), error)
}

export function unreachable(label: string, message: string, cause?: unknown): SavestateError {
  return new SavestateError('REMOTE_UNREACHABLE', `${label}: ${message}`, {
    hint: 'Check the network and the server, then try again.',
    ...(cause === undefined ? {} : { cause }),
  })
}

export function noTables({ label, schema }: PostgresErrorContext, cause?: unknown): SavestateError {
  return new SavestateError(
    'REMOTE_REFUSED',
    `${label}: the schema ${schema} has no tables of Savestate`,
    {
      hint: 'Run `savestate remote init`, or give the output of `savestate remote init --print-sql` to the administrator of the database.',
      ...(cause === undefined ? {} : { cause }),
    },
  )
}

function isCertificateError(code: string): boolean {
  return /CERT|^ERR_TLS|^UNABLE_TO_|^ERR_SSL|^EPROTO$|^HOSTNAME_MISMATCH$/.test(code)
}

/** For a host with several addresses, Node reports an AggregateError without a message. */
function messageOf(error: Error): string {
  const inner = 'errors' in error && Array.isArray(error.errors) ? error.errors : []
  const messages = inner.filter(isError).map((it) => it.message)
  return error.message === '' ? [...new Set(messages)].join('; ') : error.message
}
