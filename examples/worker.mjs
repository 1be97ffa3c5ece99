// A worker of a fleet: kill it on one host, start it on any other, and it continues there, with its files.
// Usage: SAVESTATE_REMOTE=postgres://… node worker.mjs FOLDER
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { openStore } from 'savestate'

const folder = resolve(process.argv[2] ?? 'work')
mkdirSync(folder, { recursive: true })
const store = await openStore()
// A session that some worker left, or a new one.
const { session, state, inFlight } =
  (await store.claim({ agent: 'worker', into: folder })) ??
  (await store.resume(`job-${Date.now()}`, { create: true, agent: 'worker', into: folder }))
// These were running when their worker died. Writing a file twice does no harm.
for (const call of inFlight) await session.resolveToolCall(call.id, { as: 'retry' })

const parts = [...(state?.parts ?? [])]
console.log(`${session.id} continues at part ${parts.length}.`)
while (parts.length < 10) {
  const part = parts.length
  const call = { id: `write-${part}`, name: 'write', args: { part } }
  parts.push(await session.tool(call, () => writePart(part)))
  await session.save({ state: { parts }, files: true })
  console.log(`Part ${part} is shared.`)
}
await session.complete()
await store.close()

async function writePart(part) {
  await new Promise((done) => setTimeout(done, 50))
  writeFileSync(join(folder, `part-${part}.txt`), `part ${part}\n`)
  return `part-${part}.txt`
}
