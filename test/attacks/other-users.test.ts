// An index of attacks by other users of the machine, a swapped folder and an unusual environment, with the required outcomes.
import fs, {
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isOwnSocket } from '../../src/daemon/index.js'
import { storeGit } from '../snapshot/capture/capture-helpers.js'
import { scratch as program } from '../cli/program.js'
import { sdk, snapshotOf } from '../support/scratch.js'
import { outcome, type Target, testAttacks } from './attack-table.js'

const isRoot = process.geteuid?.() === 0
const STRANGER = 12_345

/** A file that belongs to another user. Only root can create it. */
function ofStranger({ folder }: Target, kind: 'folder' | 'file'): string {
  if (!isRoot) return kind === 'folder' ? '/etc' : '/etc/passwd'
  const path = join(folder, `of-stranger-${kind}`)
  if (kind === 'folder') mkdirSync(path)
  else writeFileSync(path, '')
  chownSync(path, STRANGER, STRANGER)
  return path
}

describe('another user of the machine', () => {
  /** Opens the store after a part of it was exchanged for one of another user. */
  const withForeign = (name: string, kind: 'folder' | 'file') => async (target: Target) => {
    await target.store.close()
    target.allowDamage()
    rmSync(join(target.home, name), { recursive: true, force: true })
    symlinkSync(ofStranger(target, kind), join(target.home, name))
    return outcome(target.open())
  }
  testAttacks([
    [
      'makes the store first, to read what is saved',
      (target) => outcome(sdk.openStore({ home: ofStranger(target, 'folder') })),
      'STORE_FOREIGN',
    ],
    [
      'can write to the store by its group',
      async (target) => {
        await target.store.close()
        chmodSync(target.home, 0o770)
        return outcome(target.open())
      },
      'STORE_FOREIGN',
    ],
    ['owns the ledger', withForeign('ledger.db', 'file'), 'STORE_FOREIGN'],
    ['owns the objects', withForeign('objects.git', 'folder'), 'STORE_FOREIGN'],
    ['owns the settings', withForeign('config.json', 'file'), 'STORE_FOREIGN'],
    ['owns the folder of the socket', withForeign('daemon', 'folder'), 'STORE_FOREIGN'],
    [
      'answers as the daemon, from a socket of their own or in a store that is open to them',
      (target) => {
        const own = join(target.home, 'daemon')
        mkdirSync(own, { mode: 0o700 })
        const isUsed = (folder: string) => isOwnSocket(join(folder, 'socket'), target.home)
        const before = [isUsed(own), isUsed(ofStranger(target, 'folder'))]
        chmodSync(target.home, 0o770)
        return [...before, isUsed(own)]
      },
      [true, false, false],
    ],
    [
      'swaps a folder for a link to outside while a save reads it',
      async (target) => {
        const { home, project, store, outside, folder } = target
        await store.close()
        // A process that knows nothing of the project reads every file.
        rmSync(join(home, 'cache'), { recursive: true, force: true })
        const dir = join(project.path, 'dir')
        using swap = beforeOpening('b.txt', () => {
          renameSync(dir, join(folder, 'away'))
          symlinkSync(outside, dir)
        })
        await outcome((await (await target.open()).project(project.path)).save())
        const contents = storeGit(target, 'cat-file', '--batch-all-objects', '--batch')
        return [swap.isDone(), contents.includes('of someone else')]
      },
      [true, false],
    ],
  ])
})

/** Calls `act` once, just before a file of this name is opened. */
function beforeOpening(name: string, act: () => void): Disposable & { isDone(): boolean } {
  const { openSync } = fs
  let isDone = false
  const put = (open: typeof openSync) => {
    fs.openSync = open
    syncBuiltinESMExports()
  }
  put((path, ...rest) => {
    if (!isDone && String(path).endsWith(`/${name}`)) {
      isDone = true
      act()
    }
    return openSync(path, ...rest)
  })
  return { isDone: () => isDone, [Symbol.dispose]: () => put(openSync) }
}

describe('the environment names no usable store', () => {
  test.each([
    ['a tilde that no shell has replaced', { SAVESTATE_HOME: '~/.savestate' }],
    ['a relative path, which is another store in each folder', { SAVESTATE_HOME: 'store' }],
    ['an empty path', { SAVESTATE_HOME: '' }],
  ])('%s', (_attack, env) => {
    using s = program({ 'a.txt': 'one' })
    const { code, stderr } = s.run(['--json', 'save'], { env })
    expect([code, JSON.parse(stderr).error.code]).toEqual([2, 'STORE_UNUSABLE'])
    expect([...snapshotOf(s.project).keys()]).toEqual(['', 'a.txt'])
  })

  test('an empty HOME', () => {
    using s = program({ 'a.txt': 'one' })
    const { code, stderr } = s.shell('unset SAVESTATE_HOME; HOME= savestate --json save')
    expect([code, JSON.parse(stderr).error.code]).toEqual([2, 'STORE_UNUSABLE'])
    expect([...snapshotOf(s.project).keys()]).toEqual(['', 'a.txt'])
  })
})
