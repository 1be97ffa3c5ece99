// A real PostgreSQL server in a folder of its own. It ends with the process that started it, also if that one is killed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import pg from 'pg'
import { readIfExists } from '../../../src/base/index.js'
import { removeWhole } from '../remove-folder.js'
import { findBinaries, SERVER_USER } from './binaries.js'

export type PostgresServer = {
  readonly host: '127.0.0.1'
  readonly port: number
  /** The superuser's, for the database `postgres`. */
  readonly url: string
  start(): Promise<void>
  /** `immediate` is a crash: the server recovers at its next start. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>
  /** Stopped: copies the data folder, as a standby that will miss later commits. Returns a function that puts the copy back. */
  keepCopy(): () => void
  /** Stops the server and removes its folder. */
  dispose(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type ServerOptions = {
  /** Default: false. Data survives a crash of the server in any case, and a power failure only with it. */
  readonly fsync?: boolean
  /** TLS with test/fixtures/tls: self-signed, for localhost. */
  readonly tls?: boolean
  /** No file of the server may get larger: a disk that is full. */
  readonly fileLimitBytes?: number
  /** Further settings, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>>
}

export const SUPERUSER_PASSWORD = 'superuser password'

export async function startServer({
  fsync = false,
  tls = false,
  fileLimitBytes,
  settings = {},
}: ServerOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-postgres-'))
  if (SERVER_USER.uid !== undefined) chownSync(folder, SERVER_USER.uid, SERVER_USER.gid)
  chmodSync(folder, 0o755)
  const bin = findBinaries(folder)
  const data = join(folder, 'data')
  const log = join(folder, 'log')
  const run = (program: string, args: readonly string[]) => {
    const path = program === 'cp' ? program : join(bin, program)
    // In units of 512 bytes.
    const limit = fileLimitBytes === undefined ? 'unlimited' : Math.floor(fileLimitBytes / 512)
    const script = `ulimit -f ${limit}; exec "$@"`
    const { status, stdout, stderr } = spawnSync('sh', ['-c', script, 'sh', path, ...args], {
      ...SERVER_USER,
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
    })
    if (status !== 0)
      throw new Error(
        `${program} failed: ${stdout}${stderr}${readIfExists(log)?.toString('utf8') ?? ''}`,
      )
  }
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, SUPERUSER_PASSWORD)
  run('initdb', [
    `--pgdata=${data}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
    // A file of the log of 16 MB would be larger than the limit.
    ...(fileLimitBytes === undefined ? [] : ['--wal-segsize=1']),
  ])
  const port = await freePort()
  const all = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    max_connections: '200',
    shared_buffers: '32MB',
    fsync: fsync ? 'on' : 'off',
    full_page_writes: fsync ? 'on' : 'off',
    ...(tls ? copyCertificate(folder) : {}),
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`)
  writeFileSync(join(data, 'postgresql.auto.conf'), lines.join(''))
  const url = `postgres://postgres:${encodeURIComponent(SUPERUSER_PASSWORD)}@127.0.0.1:${port}/postgres`
  let guard: ChildProcess | undefined

  const server: PostgresServer = {
    host: '127.0.0.1',
    port,
    url,
    async start() {
      run('pg_ctl', ['start', '--wait', '--pgdata', data, '--log', log])
      guard = guardServer(
        Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]),
        folder,
      )
      await answers(url)
    },
    async stop(mode = 'fast') {
      dismiss(guard)
      guard = undefined
      run('pg_ctl', ['stop', '--wait', '--pgdata', data, '--mode', mode])
    },
    keepCopy() {
      const copy = join(folder, 'copy')
      run('cp', ['-a', data, copy])
      return () => {
        rmSync(data, { recursive: true })
        run('cp', ['-a', copy, data])
      }
    },
    async dispose() {
      if (guard !== undefined) await server.stop('immediate')
      removeWhole(folder)
    },
    [Symbol.asyncDispose]: () => server.dispose(),
  }
  await server.start()
  return server
}

function copyCertificate(folder: string): Readonly<Record<string, string>> {
  const settings: Record<string, string> = { ssl: 'on' }
  for (const [setting, name] of [
    ['ssl_cert_file', 'server.crt'],
    ['ssl_key_file', 'server.key'],
  ] as const) {
    const copy = join(folder, name)
    copyFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url), copy)
    chmodSync(copy, 0o600)
    if (SERVER_USER.uid !== undefined) chownSync(copy, SERVER_USER.uid, SERVER_USER.gid)
    settings[setting] = copy
  }
  return settings
}

/**
 * Stops the server and removes its folder when this process ends: the guard reads from a pipe that has no writer, and that the end of the
 * process closes.
 */
function guardServer(pid: number, folder: string): ChildProcess {
  const script = `cat > /dev/null; kill -QUIT "$1"; while kill -0 "$1" 2> /dev/null; do sleep 0.1; done; rm -rf "$2"`
  const child = spawn('sh', ['-c', script, 'sh', String(pid), folder], {
    ...SERVER_USER,
    stdio: ['pipe', 'ignore', 'ignore'],
    cwd: '/',
    detached: true,
  })
  child.unref()
  // A pipe keeps the event loop alive; the types do not know that it is a socket.
  const { stdin } = child
  if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
  return child
}

/** With its `cat`: it is the leader of a process group. */
function dismiss(guard: ChildProcess | undefined): void {
  if (guard?.pid !== undefined) process.kill(-guard.pid, 'SIGKILL')
}

async function answers(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.end()
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
