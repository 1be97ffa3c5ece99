// Reads a folder without our own code, to check everything that the program under test reports.
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** `id` is the id of the blob in git; empty for folders and special files. */
export type Item = {
  readonly type: 'file' | 'link' | 'folder' | 'special'
  readonly mode: number
  readonly id: string
}

/** Paths have one character per byte, because names need not be UTF-8. */
export type Disk = ReadonlyMap<string, Item>

/** Everything but `.git`, which git changes on its own. */
export function readDisk(folder: string): Disk {
  const disk = new Map<string, Item>()
  visit('')
  return disk

  function visit(path: string): void {
    const bytes = Buffer.from(path === '' ? folder : `${folder}/${path}`, 'latin1')
    const stats = lstatSync(bytes)
    const mode = stats.mode & 0o7777
    if (stats.isDirectory()) {
      if (path !== '') disk.set(path, { type: 'folder', mode, id: '' })
      for (const name of readdirSync(bytes, { encoding: 'latin1' }).sort())
        if (path !== '' || name !== '.git') visit(path === '' ? name : `${path}/${name}`)
    } else if (stats.isFile()) {
      disk.set(path, { type: 'file', mode, id: blobId(readFileSync(bytes)) })
    } else if (stats.isSymbolicLink()) {
      const target = readlinkSync(bytes, { encoding: 'buffer' })
      disk.set(path, { type: 'link', mode: 0, id: blobId(target) })
    } else {
      disk.set(path, { type: 'special', mode, id: '' })
    }
  }
}

/** The paths and blobs of a checkpoint, read by git. */
export function readCheckpoint(home: string, commit: string): ReadonlyMap<string, string> {
  const held = new Map<string, string>()
  const args = ['--git-dir', `${home}/objects.git`, 'ls-tree', '-r', '-t', '-z', `${commit}:files`]
  const output = execFileSync('git', args, { encoding: 'latin1', stdio: 'pipe' })
  for (const line of output.split('\0')) {
    const match = /^\d+ (blob|tree) ([0-9a-f]+)\t([^]*)$/.exec(line)
    if (match?.[2] === undefined || match[3] === undefined) continue
    held.set(match[3], match[1] === 'tree' ? '' : match[2])
  }
  return held
}

export function isSame(one: Item | undefined, other: Item | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.type === other.type && one.mode === other.mode && one.id === other.id
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}
