// A scratch folder whose daemon, if one was started, does not outlive the test.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '../support/own-sqlite.js'
import { hasCode } from '../../src/model/index.js'
import { type Scratch, scratch } from '../cli/program.js'
import { removeWhole } from '../support/remove-folder.js'

export type DaemonStatus = {
  readonly running: boolean
  readonly started?: boolean
  readonly stopped?: boolean
  readonly version: string
  readonly pid: number
  readonly port: number | null
  readonly socket: string
  readonly served: number
  readonly working: number
  readonly projects: readonly { readonly path: string }[]
}

export type DaemonScratch = Scratch & {
  daemon(action: 'start' | 'stop' | 'status', ...options: readonly '--http'[]): DaemonStatus
  /** As the daemon has written it; undefined if there is none. */
  address():
    | { readonly pid: number; readonly socket: string; readonly port: number | null }
    | undefined
}

export function daemonScratch(files: Readonly<Record<string, string>> = {}): DaemonScratch {
  const s = scratch(files, { daemon: true })
  const path = join(s.home, 'daemon', 'address.json')
  const address: DaemonScratch['address'] = () => {
    try {
      return JSON.parse(readFileSync(path, 'utf8'))
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    }
  }
  return {
    ...s,
    daemon: (action, ...options) => s.json(['daemon', action, ...options]) as DaemonStatus,
    address,
    // A second daemon may have been waiting, and takes over when the first is killed.
    [Symbol.dispose]: () =>
      removeWhole(s.folder, () => {
        const pid = address()?.pid
        // A test may have left its own process id there.
        if (pid !== undefined && pid !== process.pid && isAlive(pid)) process.kill(pid, 'SIGKILL')
      }),
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A process that has ended is listed until its parent waits for it.
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'latin1') : ''
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z'
  } catch {
    return false
  }
}

export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 1500; tries += 1) {
    if (await isSo()) return
    await sleep(20)
  }
  throw new Error(`It did not happen: ${what}`)
}

/** Its status, asked without starting a program for it. */
export function readStatus(s: DaemonScratch): Promise<DaemonStatus> {
  return new Promise((resolve, reject) => {
    const connection = connect(s.address()?.socket ?? '')
    let text = ''
    connection.on('data', (part) => (text += String(part)))
    connection.on('error', reject)
    connection.on('close', () => resolve((JSON.parse(text) as { status: DaemonStatus }).status))
    connection.write('{"do":"status"}\n')
  })
}

/** Starts a command, and waits until the daemon has begun it. */
export async function startServed(
  s: DaemonScratch,
  args: readonly string[],
): Promise<ReturnType<Scratch['start']>> {
  const { served } = await readStatus(s)
  const command = s.start(args)
  await until(async () => (await readStatus(s)).served > served, 'a command that has begun')
  return command
}

/** The TCP ports on which the process listens (Linux). */
export function tcpPortsOf(pid: number): readonly number[] {
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(
        ([, , , state, , , , , , inode]) => state === '0A' && sockets.includes(`socket:[${inode}]`),
      )
      .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16)),
  )
}

/** Blocks every save of the project until it is disposed. */
export function holdProject(s: Scratch): Disposable {
  const { projects } = s.json(['status']) as { readonly projects: readonly { id: string }[] }
  const database = new DatabaseSync(join(s.home, 'locks', projects[0]?.id ?? ''))
  database.exec('BEGIN EXCLUSIVE')
  return { [Symbol.dispose]: () => database.close() }
}

export function checkpointsOf(s: Scratch): number {
  return (s.json(['list']) as { readonly checkpoints: readonly unknown[] }).checkpoints.length
}

/** Whether the program itself or the daemon does the work of a hook. */
export const EACH_WAY = [
  { way: 'by itself', open: scratch },
  {
    way: 'by the daemon',
    open: (files?: Readonly<Record<string, string>>) => {
      const s = daemonScratch(files)
      s.daemon('start')
      return s
    },
  },
] as const
