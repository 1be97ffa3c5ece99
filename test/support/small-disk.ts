// A disk that gets full: a small tmpfs in its own mount namespace, invisible to other processes. If the machine does not allow that,
// a preload in the child limits the number of bytes it can write.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const PRELOAD = new URL('./disk-full.mjs', import.meta.url).href

export type SmallDisk = Disposable & {
  /** The method that this machine supports. */
  readonly kind: 'tmpfs' | 'injected'
  /** The path of the disk for processes that `run` starts. */
  readonly path: string
  /** The path of the same files for this process. */
  readonly seen: string
  /** Runs node with only `freeBytes` left on the disk; undefined: no limit. */
  run(
    args: readonly string[],
    setting: { readonly env: Readonly<Record<string, string>>; readonly freeBytes?: number },
  ): { readonly code: number | null; readonly stdout: string; readonly stderr: string }
}

export async function smallDisk(path: string, sizeMb: number): Promise<SmallDisk> {
  mkdirSync(path)
  const holder = await mounted(path, sizeMb)
  return holder === undefined ? injected(path) : tmpfs(path, holder)
}

/** A process that keeps the namespace with the mount alive; undefined if that is not possible. */
async function mounted(path: string, sizeMb: number): Promise<ChildProcess | undefined> {
  const script = 'mount -t tmpfs -o "size=$1" none "$2" && echo mounted && exec sleep 600'
  const args = ['-rm', '--propagation', 'private', 'sh', '-c', script, 'sh', `${sizeMb}m`, path]
  const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  return new Promise((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('close', () => resolve(undefined))
    child.stdout.once('data', () => resolve(child))
  })
}

function tmpfs(path: string, holder: ChildProcess): SmallDisk {
  const pid = String(holder.pid)
  const seen = `/proc/${pid}/root${path}`
  const ballast = join(path, 'ballast')
  const inside = ['-t', pid, '-U', '-m', '--preserve-credentials']
  const within = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    spawnSync('nsenter', [...inside, ...args], { env, encoding: 'utf8' })
  const env = { PATH: process.env['PATH'] ?? '' }
  return {
    kind: 'tmpfs',
    path,
    seen,
    run(args, { env: own, freeBytes }) {
      if (freeBytes !== undefined) {
        const { bavail, bsize } = statfsSync(seen)
        const bytes = Math.max(0, bavail * bsize - freeBytes)
        const filled = within(['fallocate', '-l', String(bytes), ballast], env)
        if (filled.status !== 0) throw new Error(`the disk was not filled: ${filled.stderr}`)
      }
      try {
        const { status, stdout, stderr } = within([process.execPath, ...args], { ...env, ...own })
        return { code: status, stdout, stderr }
      } finally {
        within(['rm', '-f', ballast], env)
      }
    },
    [Symbol.dispose]: () => void holder.kill('SIGKILL'),
  }
}

function injected(path: string): SmallDisk {
  return {
    kind: 'injected',
    path,
    seen: path,
    run(args, { env, freeBytes }) {
      const limit = freeBytes === undefined ? {} : { SAVESTATE_TEST_FREE_BYTES: String(freeBytes) }
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['--import', PRELOAD, ...args],
        { env: { PATH: process.env['PATH'] ?? '', ...env, ...limit }, encoding: 'utf8' },
      )
      return { code: status, stdout, stderr }
    },
    [Symbol.dispose]: () => undefined,
  }
}
