// Prunes in a child process: node prune-child.mjs '{"home":…,"input":{…}}'. With "waits" it opens the store, prints
// "open", prunes when it gets a line, and prints "planned" when it has its plan.
import process from 'node:process'
import { once } from 'node:events'
import { openStore } from '../../dist/index.js'

const { home, input, waits } = JSON.parse(process.argv[2] ?? '{}')
const store = await openStore({ home, durability: 'process', inProcess: true })
if (waits) {
  process.stdout.write('open\n')
  await once(process.stdin, 'data')
}
const confirm = async () => {
  if (waits) process.stdout.write('planned\n')
  return true
}
process.stdout.write(`${JSON.stringify(await store.prune({ ...input, confirm }))}\n`)
await store.close()
process.stdin.destroy()
