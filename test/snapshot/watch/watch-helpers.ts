// A project that one store watches and another one scans, for the suites that compare the two.
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { CheckpointDetails, Project, StatusResult, Store } from '../../../src/index.js'
import { type Scratch, sdk } from '../../support/scratch.js'

export type Watched = StatusResult['watches'][number]

export type Pair = AsyncDisposable & {
  readonly store: Store
  readonly watched: Project
  readonly plain: Project
  /** Saves with both stores; undefined if the results are equal. The project must not change meanwhile. */
  difference(): Promise<object | undefined>
  /** The watch as `status` reports it. */
  watch(): Promise<Watched>
}

/** `inProcess`: the watch runs on this thread, so that a test can block it. */
export async function watchedAndNot(
  s: Scratch,
  { inProcess = false, path = s.project }: { inProcess?: boolean; path?: string } = {},
): Promise<Pair> {
  const store = await s.open({ inProcess })
  const plainStore = await sdk.openStore({
    home: join(s.folder, 'plain'),
    durability: 'process',
    inProcess,
  })
  const watched = await store.project(path, { watch: true })
  const plain = await plainStore.project(path)
  await watched.save()
  return {
    store,
    watched,
    plain,
    async difference() {
      const [mine, theirs] = [await savedBy(watched), await savedBy(plain)]
      // Skipped paths are recorded only if the save made a checkpoint.
      const factsOf = mine.created && theirs.created ? allFactsOf : treeOf
      const both = { watched: factsOf(mine), plain: factsOf(theirs) }
      return isDeepStrictEqual(both.watched, both.plain) ? undefined : both
    },
    async watch() {
      const [watch] = (await store.status()).watches
      if (watch === undefined) throw new Error('status tells of no watch')
      return watch
    },
    [Symbol.asyncDispose]: () => plainStore.close(),
  }
}

async function savedBy(
  project: Project,
): Promise<CheckpointDetails & { readonly created: boolean }> {
  const { id, created } = await project.save()
  return { ...(await project.show(id)), created }
}

function treeOf({ tree }: CheckpointDetails): object {
  return { tree }
}

function allFactsOf(details: CheckpointDetails): object {
  const { tree, fileCount, sizeBytes, skipped, skippedByReason, skippedPaths, repositories } =
    details
  return { tree, fileCount, sizeBytes, skipped, skippedByReason, skippedPaths, repositories }
}

/** Runs a script in a child process and blocks this thread until it ends. */
export function runBlocking(script: string, ...args: readonly string[]): void {
  execFileSync(process.execPath, ['-e', script, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** Writes to two files alternately, so that the kernel merges no events, and to a third at the end. */
export const BURST = `
  const fs = require('node:fs')
  const [folder, count] = [process.argv[1], Number(process.argv[2])]
  const files = ['burst-a', 'burst-b'].map((name) => fs.openSync(folder + '/' + name, 'w'))
  for (let i = 0; i < count; i++) fs.writeSync(files[i % 2], 'x')
  fs.appendFileSync(folder + '/last', 'written when the queue was full\\n')
`

/**
 * Ways to make the system interfere with a watched project, in a child process: `mount` and `unmount` at a path, and `limit`
 * for the number of watches. The kernel does it where a process may have its own namespaces, invisible to others;
 * everywhere, a simulation gives the program the kernel's answers.
 */
export type System = 'kernel' | 'answers given to it'

export const mayHaveNamespaces = spawnSync('unshare', ['-rm', 'true']).status === 0

export const SYSTEMS: readonly System[] = mayHaveNamespaces
  ? ['kernel', 'answers given to it']
  : ['answers given to it']

const POWERS: Readonly<Record<System, string>> = {
  kernel: `
    const run = (program, ...args) => execFileSync(program, args, { stdio: 'inherit' })
    const mount = (at) => run('mount', '-t', 'tmpfs', 'none', at)
    const unmount = (at) => run('umount', at)
    const limit = (count) => fs.writeFileSync('/proc/sys/user/max_inotify_watches', String(count))
  `,
  'answers given to it': `
    const { openSync, watch } = fs
    const table = path + '-mounts'
    const above = '1 0 0:1 / / rw - ext4 none rw\\n'
    const unmount = () => fs.writeFileSync(table, above)
    const mount = (at) => fs.writeFileSync(table, above + '2 1 0:2 / ' + at + ' rw - tmpfs none rw\\n')
    unmount()
    fs.openSync = (file, ...rest) => openSync(file === '/proc/self/mountinfo' ? table : file, ...rest)
    let most = Infinity
    const watching = new Set()
    const limit = (count) => (most = count)
    fs.watch = (...args) => {
      if (watching.size >= most)
        throw Object.assign(new Error('ENOSPC: no watch is left'), { code: 'ENOSPC', syscall: 'watch' })
      const watcher = watch(...args)
      watching.add(watcher)
      return watcher.once('close', () => watching.delete(watcher))
    }
    syncBuiltinESMExports()
  `,
}

/**
 * Runs a script in such a process. The script can use `fs`, `path` (the project), `mount`, `unmount`, `limit`, and `tell`,
 * which saves and reports. Returns all reports.
 */
export function whereSystemDoes(system: System, s: Scratch, body: string): unknown {
  const file = join(s.folder, 'watching.mjs')
  const index = new URL('../../../dist/index.js', import.meta.url).href
  const folders = JSON.stringify({ home: s.home, plain: join(s.folder, 'plain'), path: s.project })
  writeFileSync(
    file,
    `
    import fs from 'node:fs'
    import { execFileSync } from 'node:child_process'
    import { syncBuiltinESMExports } from 'node:module'
    const { home, plain: plainHome, path } = ${folders}
    ${POWERS[system]}
    const sdk = await import(${JSON.stringify(index)})
    const store = await sdk.openStore({ home, inProcess: true, durability: 'process' })
    const plainStore = await sdk.openStore({ home: plainHome, inProcess: true, durability: 'process' })
    const watched = await store.project(path, { watch: true })
    const plain = await plainStore.project(path)
    const treeOf = async (project) => (await project.show((await project.save()).id)).tree
    const told = []
    const tell = async () => {
      const isSame = (await treeOf(watched)) === (await treeOf(plain))
      const [{ doubt, fullScans, isWatching }] = (await store.status()).watches
      told.push({ isSame, doubt, fullScans, isWatching })
    }
    ${body}
    await plainStore.close()
    await store.close()
    process.stdout.write(JSON.stringify(told))
    `,
  )
  const command = [process.execPath, file]
  const [program = '', ...args] =
    system === 'kernel' ? ['unshare', '-rm', '--propagation', 'private', ...command] : command
  return JSON.parse(execFileSync(program, args, { encoding: 'utf8' }))
}
