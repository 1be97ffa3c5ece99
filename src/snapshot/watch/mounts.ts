// Finds the mounts in a project, because a mount gives no event, and file systems that do not report all changes.
import { readFileSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import type { BytePath } from '../../model/index.js'

/** On these, changes by another machine or by the serving program give no events. */
const REMOTE =
  /^(?:nfs|cifs|smb|fuse|9p|ceph|afs|virtiofs|vboxsf|prl_fs|lustre|gluster|gfs2|ocfs2|hgfs|drvfs|vmhgfs)/

export type Mounts = {
  /** Changes when something is mounted or unmounted in the project. */
  readonly key: string
  /** The type of a REMOTE file system that the project is on or contains. */
  readonly remote: string | undefined
}

/** Empty where the system has no mount table. */
export function mountsOf(root: BytePath): Mounts {
  const table = ifExists(() => readFileSync('/proc/self/mountinfo', 'latin1'), 'EACCES')
  return table === undefined ? { key: '', remote: undefined } : mountsIn(table, root)
}

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
  return line
    .split(' ', 5)[4]
    ?.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
}

function typeOf(line: string): string {
  return / - (\S+)/.exec(line)?.[1] ?? ''
}
