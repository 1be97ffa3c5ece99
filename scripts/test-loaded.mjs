// `npm run test:loaded`: runs the tests five times (`-- 2`: twice) while other programs use the machine, to find tests that
// depend on timing: four busy processes, and three that watch hundreds of folders in which files change all the time.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const BUSY = 'for (;;) Math.sqrt(Math.random())'
const WATCH = `
  const fs = require('node:fs')
  const folders = fs.readdirSync('.')
  for (const folder of folders) fs.watch(folder, () => undefined)
  let next = 0
  setInterval(() => fs.writeFileSync(folders[next++ % folders.length] + '/file', String(next)), 20)`

function startLoad(folder) {
  const start = (script) =>
    spawn(process.execPath, ['-e', script], { cwd: folder, stdio: 'ignore' })
  for (let n = 0; n < 500; n += 1) mkdirSync(join(folder, String(n)))
  return [
    ...Array.from({ length: 4 }, () => start(BUSY)),
    ...Array.from({ length: 3 }, () => start(WATCH)),
  ]
}

const runs = Number(process.argv[2] ?? 5)
const folder = mkdtempSync(join(tmpdir(), 'savestate-load-'))
const load = startLoad(folder)
const results = []
try {
  for (let run = 0; run < runs; run += 1) {
    const from = Date.now()
    const { status } = spawnSync('npm', ['test'], {
      stdio: 'inherit',
      shell: process.platform === 'win32',
    })
    results.push({ passed: status === 0, seconds: Math.round((Date.now() - from) / 1000) })
  }
} finally {
  for (const child of load) child.kill()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
for (const { passed, seconds } of results)
  console.log(`${passed ? 'passed' : 'FAILED'} in ${seconds} s`)
process.exitCode = results.every(({ passed }) => passed) ? 0 : 1
