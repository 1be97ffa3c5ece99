// The error for segments that are not valid: another host wrote them, so they are input like an import (docs/internals/shared.md).
import { SavestateError } from '../errors.js'

/** `claim` ends the sentence "What the remote has of this log is not valid: …". */
export function segmentFault(claim: string, cause?: unknown): SavestateError {
  const message = `What the remote has of this session is not valid: ${claim}`
  return new SavestateError('BAD_INPUT', message, {
    hint: 'Nothing of it was taken over. Run `savestate verify --remote`; another host may have a sound copy that it can push.',
    cause,
  })
}
