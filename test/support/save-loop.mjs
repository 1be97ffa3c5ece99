// Saves the same few contents until the file `stop` exists, and prints which checkpoint has which content:
// node save-loop.mjs '{"home":…,"project":…,"stop":…,"seed":1,"reopen":false}'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../dist/index.js'

const request = JSON.parse(process.argv[2] ?? '{}')
const { home, project: folder, stop, reopen } = request
let random = request.seed

/** Deterministic pseudo-random numbers. */
function next(below) {
  random = (random * 1103515245 + 12345) % 2147483648
  return Math.floor((random / 2147483648) * below)
}

/** The test knows these contents too. Many files make a pack, few stay loose. */
function writeContent(world) {
  const files = join(folder, 'files')
  rmSync(files, { recursive: true, force: true })
  mkdirSync(files, { recursive: true })
  const count = world === 0 ? 130 : 6
  for (let n = 0; n < count; n += 1)
    writeFileSync(join(files, `${n}`), `file ${n} of world ${world}\n`.repeat(20))
}

const open = () => openStore({ home, durability: 'process', inProcess: reopen })
let store = await open()
let world = 0
while (!existsSync(stop)) {
  world = (world + 1 + next(3)) % 4
  writeContent(world)
  const { id } = await (await store.project(folder)).save()
  process.stdout.write(`${JSON.stringify({ id, world })}\n`)
  if (reopen) {
    await store.close()
    store = await open()
  }
  // Idle times in between: a collection waits for one.
  await sleep(next(80))
}
await store.close()
