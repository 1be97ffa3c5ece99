import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { bytePath, DEFAULT_LIMITS } from '../../../../src/model/index.js'
import { type FolderNode, findNode } from '../../../../src/snapshot/capture/stat-cache/node.js'
import { Scan } from '../../../../src/snapshot/capture/scan/scan.js'
import type { Pending } from '../../../../src/snapshot/capture/scan/scan-types.js'

test('the next scan finds paths that vanished while a parent folder was moved briefly', async () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-scan-')))
  const deep = join(top, 'project', 'src', 'deep')
  mkdirSync(deep, { recursive: true })
  for (let i = 0; i < 5; i += 1) writeFileSync(join(deep, `file-${i}`), 'content')
  const inner = folderListedLater(deep)
  writeFileSync(join(deep, inner, 'file'), 'content')
  // Wait until all stamps are stable: from here on, `deep` does not change.
  await sleep(150)

  let isMoved = false
  const root = scan(join(top, 'project'), undefined, () => {
    if (!isMoved) renameSync(join(top, 'project', 'src'), join(top, 'away'))
    isMoved = true
  })
  renameSync(join(top, 'away'), join(top, 'project', 'src'))
  expect(findNode(root, bytePath(`src/deep/${inner}`))).toBeUndefined()

  const again = scan(join(top, 'project'), root, () => undefined)
  expect(findNode(again, bytePath(`src/deep/${inner}/file`))).toMatchObject({ kind: 'file' })
  rmSync(top, { recursive: true })
})

test('the store is recognized by its inode through any path, even if it was captured before', () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-scan-')))
  for (const folder of ['sub/store/objects', 'sub/other'])
    mkdirSync(join(top, folder), { recursive: true })
  writeFileSync(join(top, 'sub/store/ledger.db'), 'content')
  const nodeOf = (root: FolderNode) => findNode(root, bytePath('sub/store'))

  const before = scan(top, undefined, () => undefined)
  expect(nodeOf(before)).toMatchObject({ kind: 'folder' })

  // The same folder by another path, as with a second mount.
  const home = `${top}/sub/other/../store`
  const skipped = { kind: 'skipped', reason: 'store', isFolder: true }
  expect(nodeOf(scan(top, undefined, () => undefined, home))).toMatchObject(skipped)
  expect(nodeOf(scan(top, before, () => undefined, home))).toMatchObject(skipped)
  rmSync(top, { recursive: true })
})

/** A folder in `path` that the file system lists after some file. */
function folderListedLater(path: string): string {
  for (let i = 0; ; i += 1) {
    const name = `inner-${i}`
    mkdirSync(join(path, name))
    if (readdirSync(path).indexOf(name) > 0) return name
    rmSync(join(path, name), { recursive: true })
  }
}

function scan(
  path: string,
  known: FolderNode | undefined,
  onPending: (item: Pending) => void,
  home = '/nonexistent',
): FolderNode {
  const target = {
    root: bytePath(path),
    home: bytePath(home),
    limits: DEFAULT_LIMITS,
    ignoreCase: false,
  }
  const memory = known === undefined ? undefined : { root: known, indexes: new Map() }
  const options = {
    memory,
    onPending,
    isStored: () => true,
    onFile: () => undefined,
    unchangedIn: () => () => false,
    onFolder: () => false,
    statsFirst: false,
    countCleanFiles: () => undefined,
  }
  return new Scan(target, options).run().root
}
