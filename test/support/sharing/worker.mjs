// An agent that works step by step on a shared session, in a child process that a test can kill:
//   node worker.mjs '{"home":…,"remote":…,"project":…,"told":…,"effects":…,"steps":5}'
// It writes a line to `told` after each call that returned, and one to `effects` for each effect of a tool. It continues where the session
// stopped, on this or another host.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { openStore } from '../../../dist/index.js'

const { home, remote, project, told, effects, steps, into } = JSON.parse(process.argv[2] ?? '{}')
const tell = (line) => appendFileSync(told, `${line}\n`)
const hasEffect = (id) => existsSync(effects) && readFileSync(effects, 'utf8').includes(`${id}\n`)

const store = await openStore({ home, remote, durability: 'process', inProcess: true })
const resumed = await store.resume('task', {
  create: true,
  agent: 'worker',
  ...(into === undefined ? { project: await store.project(project) } : { into }),
})
const { session, state, inFlight } = resumed
tell('up')
for (const { id, args } of inFlight) {
  const as = hasEffect(id) ? { as: 'confirmed', result: args.n } : { as: 'retry' }
  await session.resolveToolCall(id, as)
}
for (let n = state === undefined ? 0 : state.n + 1; n < steps; n++) {
  const id = `call-${n}`
  await session.tool({ id, name: 'effect', args: { n } }, () => {
    appendFileSync(effects, `${id}\n`)
    return n
  })
  tell(`tool ${n}`)
  writeFileSync(join(project, 'data.txt'), `step ${n}`)
  // Too large for a commit.
  if (n === 1)
    writeFileSync(
      join(project, 'big.bin'),
      Buffer.alloc(400_000, 'big file ').map((byte, at) => (byte * (at % 251)) & 255),
    )
  await session.save({ state: { n, log: [] }, files: true })
  tell(`save ${n}`)
  await session.append('log', [n])
  tell(`append ${n}`)
}
await session.complete()
tell('done')
await store.close()
