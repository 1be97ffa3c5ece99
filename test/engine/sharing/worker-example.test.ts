// The worker of the guide (docs/guide/fleet.md): killed on one host again and again, it ends on the other with ten files.
import { spawn } from 'node:child_process'
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
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openRemote } from '../../../src/remote/index.js'
import { createDatabase } from '../../support/postgres/index.js'
import { scratch } from '../../support/scratch.js'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const FILES = Array.from({ length: 10 }, (_, part) => `part-${part}.txt`)

test('the worker of the guide continues on another host', async () => {
  await using s = await scratch()
  await using database = await createDatabase()
  const remote = await openRemote({ url: database.url })
  await remote.init()
  await remote.close()
  mkdirSync(join(s.folder, 'node_modules'))
  symlinkSync(ROOT, join(s.folder, 'node_modules', 'savestate'))
  const program = join(s.folder, 'worker.mjs')
  writeFileSync(program, readFileSync(join(ROOT, 'examples/worker.mjs')))

  /** Returns the folder and the output; killed once it has said that a part is shared, if `isKilled`. */
  const work = async (host: string, isKilled: boolean) => {
    mkdirSync(join(s.folder, host), { recursive: true })
    const folder = mkdtempSync(join(s.folder, host, 'work-'))
    const child = spawn(process.execPath, [program, folder], {
      env: {
        ...process.env,
        SAVESTATE_HOME: join(s.folder, host, 'home'),
        SAVESTATE_REMOTE: database.url,
      },
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
})
