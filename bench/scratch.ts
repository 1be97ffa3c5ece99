/**
 * The one folder a run writes to. It is removed at the end, also when the run is interrupted, and
 * nothing in it is removed earlier: for minutes after many deletions, an ext4 without a journal creates files three
 * times slower (it does not reuse a fresh inode number), which would penalize peers that store one file
 * per object.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { killPrograms } from './programs.js'

export interface Scratch {
  /** Creates an empty folder in it. */
  folder(name: string): string
  /** An unused path in it. */
  path(name: string): string
  remove(): void
}

const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export function openScratch(work: string | undefined): Scratch {
  const parent = work ?? tmpdir()
  mkdirSync(parent, { recursive: true })
  const root = realpathSync(mkdtempSync(join(parent, 'savestate-bench-')))
  let used = 0

  const path = (name: string): string => {
    used += 1
    return join(root, `${used}-${name}`)
  }
  const remove = (): void => rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  for (const [signal, code] of Object.entries(SIGNAL_EXIT)) {
    process.once(signal, () => {
      killPrograms()
      remove()
      process.exit(code)
    })
  }
  return {
    path,
    folder(name) {
      const folder = path(name)
      mkdirSync(folder)
      return folder
    },
    remove,
  }
}
