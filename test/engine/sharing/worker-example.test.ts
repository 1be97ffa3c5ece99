// The worker of the guide (docs/guide/fleet.md), with the password, the key and the remote that the guide sets up: killed on one host again
// and again, it ends on the other with ten files.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import { scratch } from '../../support/scratch.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const WORKER = readFileSync(join(ROOT, 'examples/worker.mjs'), 'utf8')
const GUIDE = readFileSync(join(ROOT, 'docs/guide/fleet.md'), 'utf8')
const FILES = Array.from({ length: 10 }, (_, part) => `part-${part}.txt`)

test('the core in the guide is lines of the example, in their order', () => {
  const lines = WORKER.split('\n')
  let next = 0
  const missing = blockAfter('Its core:')
    .filter((line) => line !== '…')
    .filter((line) => {
      const place = lines.indexOf(line, next)
      if (place !== -1) next = place + 1
      return place === -1
    })
  expect(missing).toEqual([])
  expect(lines.length).toBeLessThanOrEqual(35)
})

test('the worker of the guide continues on another host', async () => {
  await using s = await scratch()
  await using database = await createDatabase()
  const environment = await setUp(s.folder, database)
  const program = join(s.folder, 'worker.mjs')
  writeFileSync(program, WORKER)

  /** Returns the folder and the output; killed once it has said that a part is shared, if `isKilled`. */
  const work = async (host: string, isKilled: boolean) => {
    mkdirSync(join(s.folder, host), { recursive: true })
    const folder = mkdtempSync(join(s.folder, host, 'work-'))
    const child = spawn(process.execPath, [program, folder], {
      env: { ...environment, SAVESTATE_HOME: join(s.folder, host, 'home') },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (text: Buffer) => {
      output += text.toString()
      if (isKilled && output.includes('is shared')) child.kill('SIGKILL')
    })
    await once(child, 'close')
    return { folder, output }
  }

  /** As if 30 seconds had passed. */
  const expireLeases = () =>
    database.sql(
      `UPDATE savestate.live SET expires_at = clock_timestamp() - interval '1 second' WHERE expires_at IS NOT NULL`,
    )
  const first = await work('a', true)
  await expireLeases()
  const second = await work('b', true)
  await expireLeases()
  const last = await work('a', false)
  const outputs = [first, second, last].map(({ output }) => output.split('\n')[0])
  const [id] = outputs[0]?.split(' ') ?? []
  expect(outputs[0]).toBe(`${id} continues at part 0.`)
  expect(outputs[1]).toMatch(new RegExp(`^${id} continues at part [1-9]`))
  expect(last.output).toContain('Part 9 is shared.')
  expect(readdirSync(last.folder).sort()).toEqual(FILES)
  expect(readFileSync(join(last.folder, 'part-0.txt'), 'utf8')).toBe('part 0\n')
  expect(
    await database.sql('SELECT key_check IS NOT NULL AS sealed FROM savestate.format'),
  ).toEqual([{ sealed: true }])
})

/**
 * Runs the first block of the guide with this database in place of db.example.org, in a folder where `npm install savestate pg` has been.
 * Returns the environment that its exports make.
 */
async function setUp(
  folder: string,
  database: TestDatabase,
): Promise<Readonly<Record<string, string>>> {
  const password = 'of-the-fleet'
  const role = await database.createRole(password)
  await database.sql(`GRANT CREATE ON DATABASE ${database.name} TO ${role}`)
  mkdirSync(join(folder, 'user'))
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true })
  symlinkSync(ROOT, join(folder, 'node_modules', 'savestate'))
  symlinkSync('../savestate/dist/cli/bin.js', join(folder, 'node_modules', '.bin', 'savestate'))
  const [install, ...commands] = blockAfter('create the tables once:')
  expect(install).toBe('npm install savestate pg')
  const { host, port } = new URL(database.url)
  const script = commands
    .join('\n')
    .replace('db.example.org:5432:agents:fleet:PASSWORD', () =>
      [host.replace(`:${port}`, ''), port, database.name, role, password].join(':'),
    )
    .replace('postgres://fleet@db.example.org/agents', () =>
      database.urlWith({ user: role, password: '' }),
    )
  expect(script).not.toContain('example')
  const given = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(folder, 'user'),
    SAVESTATE_NO_DAEMON: '1',
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  }
  const text = execFileSync('bash', ['-e', '-c', `{ ${script}\n} > /dev/null; env -0`], {
    cwd: folder,
    env: given,
    encoding: 'utf8',
  })
  const entries = text.split('\0').flatMap((line) => [...line.matchAll(/^(SAVESTATE_\w+)=(.*)$/g)])
  return {
    ...given,
    ...Object.fromEntries(entries.map(([, name = '', value = '']) => [name, value])),
  }
}

/** The lines of the first indented block after this text. */
function blockAfter(text: string): readonly string[] {
  const [, block = ''] = /\n\n((?: {4}.*\n)+)/.exec(GUIDE.slice(GUIDE.indexOf(text))) ?? []
  return block
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(4))
}
