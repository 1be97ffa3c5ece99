// Finds the mounts in a project, because a mount gives no event, and file systems that do not report all changes.
import { openSync, readSync } from 'node:fs'
import { type BytePath, hasCode } from '../../model/index.js'

/** On these, changes by another machine or by the serving program give no events. */
const REMOTE =
  /^(?:nfs|cifs|smb|fuse|9p|ceph|afs|virtiofs|vboxsf|prl_fs|lustre|gluster|gfs2|ocfs2|hgfs|drvfs|vmhgfs)/

const MAX_BYTES = 4 << 20

export type Mounts = {
  /** Changes when something is mounted or unmounted in the project. */
  readonly key: string
  /** The type of a REMOTE file system that the project is on or contains. */
  readonly remote: string | undefined
}

let buffer = Buffer.alloc(64 << 10)

/** Empty where the system has no mount table. */
export function mountsOf(root: BytePath): Mounts {
  const table = readTable()
  if (table === undefined) return { key: '', remote: undefined }
  if (table !== last.table) last = { table, mounts: new Map() }
  let mounts = last.mounts.get(root)
  if (mounts === undefined) {
    mounts = mountsIn(table, root)
    last.mounts.set(root, mounts)
  }
  return mounts
}

/** The results for the last table read; it rarely changes. */
let last = { table: '', mounts: new Map<BytePath, Mounts>() }

/** `table`: the text of /proc/self/mountinfo, one character per byte. */
export function mountsIn(table: string, root: BytePath): Mounts {
  const inside: string[] = []
  let above = { point: '', line: '' }
  for (const line of table.split('\n')) {
    const point = mountPoint(line)
    if (point === undefined) continue
    if (point !== root && point.startsWith(root === '/' ? '/' : `${root}/`)) inside.push(line)
    else if (point.length >= above.point.length && leadsTo(point, root)) above = { point, line }
  }
  const lines = [above.line, ...inside]
  return {
    key: lines.join('\n'),
    remote: lines.map(typeOf).find((type) => REMOTE.test(type)),
  }
}

function leadsTo(point: string, path: string): boolean {
  return point === '/' || path === point || path.startsWith(`${point}/`)
}

/** The fifth field, with blanks escaped in octal. */
function mountPoint(line: string): string | undefined {
  let start = 0
  for (let i = 0; i < 4; i++) {
    start = line.indexOf(' ', start) + 1
    if (start === 0) return undefined
  }
  const point = line.slice(start, line.indexOf(' ', start))
  if (!point.includes('\\')) return point
  return point.replace(/\\([0-7]{3})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 8)),
  )
}

function typeOf(line: string): string {
  return / - (\S+)/.exec(line)?.[1] ?? ''
}

/** Kept open: every save reads it, and the kernel generates it again when it is read from the start. */
let table: number | 'absent' | undefined

function readTable(): string | undefined {
  table ??= openTable()
  if (table === 'absent') return undefined
  let length = 0
  for (;;) {
    const read = readSync(table, buffer, length, buffer.length - length, length)
    length += read
    if (read === 0) return buffer.latin1Slice(0, length)
    if (length === buffer.length && length < MAX_BYTES)
      buffer = Buffer.concat([buffer, Buffer.alloc(buffer.length)])
  }
}

function openTable(): number | 'absent' {
  try {
    return openSync('/proc/self/mountinfo', 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return 'absent'
    throw error
  }
}
