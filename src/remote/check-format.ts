// The format of a remote: its version, and whether it is sealed with our key.
import { SavestateError } from '../model/index.js'
import type { RemoteKey } from './codec/index.js'
import { type DriverFormat, REMOTE_FORMAT } from './driver.js'

const CHECK_TEXT = Buffer.from('savestate remote', 'utf8')

/** A value that only the key opens. */
export function keyCheckOf(remoteId: string, key: RemoteKey | null): Uint8Array | null {
  return key === null ? null : key.seal(CHECK_TEXT, ['key check', remoteId])
}

/** Throws STORE_NEWER, KEY_MISSING or KEY_WRONG. */
export function checkFormat(
  { version, remoteId, keyCheck }: DriverFormat,
  { key, label }: { readonly key: RemoteKey | null; readonly label: string },
): void {
  if (version > REMOTE_FORMAT) throw remoteNewer(label)
  if (keyCheck === null) {
    if (key === null) return
    throw new SavestateError(
      'KEY_WRONG',
      `The remote ${label} is not encrypted, and a key is set`,
      {
        hint: 'Remove it (`savestate remote remove`) and add it again with `--plain`, or use another schema or repository for encrypted sessions.',
      },
    )
  }
  if (key === null)
    throw new SavestateError('KEY_MISSING', `The remote ${label} is encrypted`, {
      hint: 'Remove it (`savestate remote remove`) and add it again with `--key-file` and the key of your team.',
    })
  if (key.open(keyCheck, ['key check', remoteId])?.equals(CHECK_TEXT) === true) return
  throw new SavestateError('KEY_WRONG', `The remote ${label} is encrypted with another key`, {
    hint: 'Remove it (`savestate remote remove`) and add it again with `--key-file` and the key of your team.',
  })
}

export function remoteNewer(label: string): SavestateError {
  return new SavestateError(
    'STORE_NEWER',
    `The remote ${label} was written by a newer version of Savestate`,
    {
      hint: 'Update Savestate on this machine. Work on this machine continues without the remote.',
    },
  )
}
