// Names of refs and of paths in trees. Ids are any text, so what git or a file system could misread is escaped.
import { createHash } from 'node:crypto'
import { LOG_KINDS, type LogKind, type LogName } from '../../model/index.js'

export const FORMAT_REF = 'refs/savestate/format'
/** Only in the driver's copy: packs that no commit has yet. */
export const STAGED_REFS = 'refs/staged/'

/** A component of a path may have 255 bytes, and git adds `.lock`. */
const MAX_NAME = 200

/** Letters other than lower case are escaped too: the file system of a server may not tell them apart. */
export function escapeId(id: string): string {
  const escaped = [...Buffer.from(id, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      if (/[a-z0-9_-]/.test(character)) return character
      return `=${byte.toString(16).padStart(2, '0')}`
    })
    .join('')
  if (escaped !== '' && escaped.length <= MAX_NAME) return escaped
  return `=h${createHash('sha256').update(id, 'utf8').digest('hex')}`
}

/** The folder of the refs of a log: `log` has its head and its segments, `packs` its packs. */
function folderOf({ kind, id }: LogName): string {
  return `${logsOfKind(kind)}/${escapeId(id)}`
}

export function logRef(log: LogName): string {
  return `${folderOf(log)}/log`
}

export function packsRef(log: LogName): string {
  return `${folderOf(log)}/packs`
}

/** The log of a ref, for messages: a long id is known by its hash only. Undefined: it is not the ref of a log. */
export function logOfRef(ref: string): LogName | undefined {
  const [, kindText, escaped = ''] = /^refs\/savestate\/([a-z]+)\/(.+)\/log$/.exec(ref) ?? []
  const kind = LOG_KINDS.find((each) => each === kindText)
  if (kind === undefined) return undefined
  const bytes = escaped.replaceAll(/=([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return { kind, id: Buffer.from(bytes, 'latin1').toString('utf8') }
}

/** The folder of the refs of all logs of a kind. */
export function logsOfKind(kind: LogKind): string {
  return `refs/savestate/${kind}`
}

/** For a fetch: unlike a name, a pattern may match nothing. */
export function everyLog(kind: LogKind | undefined): string {
  return kind === undefined ? 'refs/savestate/*/log' : `${logsOfKind(kind)}/*/log`
}

export function stagedRef(pack: string): string {
  return `${STAGED_REFS}${escapeId(pack)}`
}
