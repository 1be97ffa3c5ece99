// PgBouncer in transaction mode, if the machine has it.
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import pg from 'pg'
import { hasCode } from '../../../src/base/index.js'
import { removeWhole } from '../remove-folder.js'
import { SERVER_USER } from './binaries.js'
import { freePort } from './server.js'

/** Empty or one path. Throws if there is none and SAVESTATE_REQUIRE_PGBOUNCER is 1. */
export function findPgbouncer(
  folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'],
): readonly string[] {
  const found = folders
    .map((folder) => join(folder, 'pgbouncer'))
    .filter((path) => existsSync(path))
  if (found.length === 0 && process.env['SAVESTATE_REQUIRE_PGBOUNCER'] === '1')
    throw new Error(
      'SAVESTATE_REQUIRE_PGBOUNCER is set, and PgBouncer is not installed (apt-get install pgbouncer)',
    )
  return found.slice(0, 1)
}

/** In front of the server of this URL, with three connections to it. `url` has its port. */
export async function startPgbouncer(
  program: string,
  serverUrl: string,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'savestate-pgbouncer-'))
  if (SERVER_USER.uid !== undefined) chownSync(folder, SERVER_USER.uid, SERVER_USER.gid)
  chmodSync(folder, 0o755)
  const server = new URL(serverUrl)
  const port = await freePort()
  const userFile = join(folder, 'users')
  writeFileSync(userFile, `"${server.username}" "${decodeURIComponent(server.password)}"\n`)
  writeFileSync(
    join(folder, 'ini'),
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${userFile}
pool_mode = transaction
default_pool_size = 3
max_client_conn = 100
`,
  )
  const child = spawn(program, [join(folder, 'ini')], { ...SERVER_USER, cwd: folder })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString('utf8')
  })
  server.port = String(port)
  for (;;) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${log}`)
    const client = new pg.Client({ connectionString: server.href })
    try {
      await client.connect()
      await client.end()
      break
    } catch (error) {
      if (!hasCode(error, 'ECONNREFUSED')) throw error
    }
  }
  return {
    url: server.href,
    async stop() {
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      await ended
      removeWhole(folder)
    },
  }
}
