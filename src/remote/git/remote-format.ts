// The ref `format`: the version of the remote, its id, and a value that only its key opens.
import { fieldsOf, tryParseJson } from '../../base/index.js'
import { SavestateError } from '../../model/index.js'
import type { DriverFormat } from '../driver.js'
import { buildCommit } from './build-commit.js'
import { FORMAT_REF } from './ref-names.js'
import type { ScratchRepository } from './local-copy.js'

const BUILDING = 'refs/building/format'
const FILE = 'format.json'
const MAX_BYTES = 64 << 10

export function readFormat(repository: ScratchRepository): Promise<DriverFormat> {
  return repository.withLock(async () => {
    await repository.fetch([`${FORMAT_REF}*`])
    return readFormatFile(repository)
  })
}

/** Does nothing if the remote has a format. */
export function initFormat(
  repository: ScratchRepository,
  format: DriverFormat,
): Promise<DriverFormat> {
  return repository.withLock(async () => {
    await repository.fetch([`${FORMAT_REF}*`])
    if ((await repository.refs(FORMAT_REF)).size === 0) {
      const files = [{ path: FILE, content: encodeFormat(format) }]
      const commit = await buildCommit(repository, {
        ref: BUILDING,
        tree: null,
        atMs: 0,
        files,
      })
      await repository.push([{ ref: FORMAT_REF, commit, expected: null }])
      // Another host may have been first.
      await repository.fetch([`${FORMAT_REF}*`])
    }
    return readFormatFile(repository)
  })
}

/** As the copy has it. Throws REMOTE_REFUSED if the remote was not created. */
export async function readFormatFile(repository: ScratchRepository): Promise<DriverFormat> {
  const value = (await repository.refs(FORMAT_REF)).get(FORMAT_REF)
  if (value === undefined)
    throw new SavestateError(
      'REMOTE_REFUSED',
      `${repository.target.label}: the repository has no data of Savestate`,
      { hint: 'Run `savestate remote init`.' },
    )
  const bytes = await repository.readBlob(`${value.commit}:${FILE}`, MAX_BYTES)
  const { version, remoteId, keyCheck } = fieldsOf(tryParseJson(bytes?.toString('utf8') ?? ''))
  const isValid =
    Number.isSafeInteger(version) &&
    typeof remoteId === 'string' &&
    (keyCheck === null || typeof keyCheck === 'string')
  if (!isValid) throw repository.damaged('its format is malformed')
  return {
    version: Number(version),
    remoteId,
    keyCheck: keyCheck === null ? null : Buffer.from(keyCheck, 'base64'),
  }
}

function encodeFormat({ version, remoteId, keyCheck }: DriverFormat): Buffer {
  const check = keyCheck === null ? null : Buffer.from(keyCheck).toString('base64')
  return Buffer.from(`${JSON.stringify({ version, remoteId, keyCheck: check })}\n`, 'utf8')
}
