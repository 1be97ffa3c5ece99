// The errors of sharing.
import { type LogName, SavestateError } from '../../model/index.js'

/** Another process has the log, or it is gone: no later call of this process can succeed. */
export function isLoss(error: unknown): error is SavestateError {
  const codes = ['SESSION_FENCED', 'SESSION_DELETED', 'REMOTE_WENT_BACK']
  return error instanceof SavestateError && codes.includes(error.code)
}

export function fencedThere({ id }: LogName): SavestateError {
  return new SavestateError(
    'SESSION_FENCED',
    `Another process has taken over the session ${JSON.stringify(id)}`,
    {
      hint: 'This process can no longer write to it. Steps that were not shared become a fork when the session is opened here again.',
    },
  )
}

export function deletedThere({ id }: LogName): SavestateError {
  return new SavestateError(
    'SESSION_DELETED',
    `The session ${JSON.stringify(id)} was deleted on the remote`,
    { hint: 'The copy in this store stays until it is deleted here.' },
  )
}

/** The error of a call that has changed this store and not the remote. Returns errors of other programs as they are. */
export function notShared(cause: unknown, { kind, id }: LogName): unknown {
  if (!(cause instanceof SavestateError) || cause.code === 'NOT_SHARED') return cause
  return new SavestateError(
    'NOT_SHARED',
    `The ${kind} ${JSON.stringify(id)} was saved here, and the remote has not confirmed it: ${cause.message}`,
    { hint: 'A later call sends it. Until then other machines do not have it.', cause },
  )
}

export function wentBack({ kind, id }: LogName, label: string): SavestateError {
  return new SavestateError(
    'REMOTE_WENT_BACK',
    `${label} has less of the ${kind} ${JSON.stringify(id)} than it confirmed before`,
    {
      hint: 'It was restored from an older copy, or lost its last commits in a failover. Steps that it lacks become a fork when the session is opened here again.',
    },
  )
}

export function lacksPacks({ kind, id }: LogName, label: string): SavestateError {
  return new SavestateError(
    'STORE_DAMAGED',
    `${label} lacks files of the ${kind} ${JSON.stringify(id)} that this store does not have either`,
    {
      hint: 'Pull the session with its files on a machine that has them, then push it from there.',
    },
  )
}

export function existsThere({ id }: LogName): SavestateError {
  return new SavestateError(
    'BAD_INPUT',
    `A session ${JSON.stringify(id)} already exists on the remote`,
    { hint: 'Choose another id.' },
  )
}

/** For the user and the agent. */
export function forkNotice({ id }: LogName, fork: string): string {
  return `Another host continued the session ${JSON.stringify(id)}. Steps of this host that were not shared are in the session ${JSON.stringify(fork)}.`
}

export function continuedElsewhere(log: LogName, fork: string): SavestateError {
  return new SavestateError('SESSION_FENCED', forkNotice(log, fork), {
    hint: 'Open that session to continue them.',
  })
}
