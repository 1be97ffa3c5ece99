import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { type BytePath, bytePath, ROOT } from '../../../src/model/index.js'
import { ContentNode, FolderNode } from '../../../src/snapshot/capture/stat-cache/node.js'
import { EventQueue } from '../../../src/snapshot/watch/event-queue.js'
import { WatchFolder } from '../../../src/snapshot/watch/watch-folder.js'
import { WatchedProject } from '../../../src/snapshot/watch/watched-project.js'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-watched-')))
afterAll(() => rmSync(top, { recursive: true, force: true }))

test('a background scan waits for a running capture, and ends after a failed one', async () => {
  const root = new FolderNode(ROOT, { viaIndex: false })
  // Enough nodes for several steps, with pauses between them.
  root.children = Array.from(
    { length: 500 },
    (_, i) =>
      new ContentNode(`gone ${String(i).padStart(3, '0')}` as BytePath, {
        kind: 'file',
        viaIndex: false,
      }),
  )
  let known:
    | { readonly root: FolderNode; readonly snapshot: undefined; readonly keptBy: undefined }
    | undefined = { root, snapshot: undefined, keptBy: undefined }
  mkdirSync(join(top, 'home'))
  const events = new EventQueue(new WatchFolder(join(top, 'home')))
  const project = new WatchedProject({
    root: bytePath(top),
    events,
    known: () => known,
    report: () => true,
  })
  try {
    const looked = project.scanAll().then(() => 'over')
    known = undefined
    expect(await Promise.race([looked, sleep(100, 'waits')])).toBe('waits')
    project.cancelScan()
    expect(await Promise.race([looked, sleep(2000, 'waits')])).toBe('over')
  } finally {
    project.close()
    events.close()
  }
})
