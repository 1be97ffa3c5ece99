// A prune in a process of its own: node prune-child.mjs '{"home":…,"input":{…}}'. With "waits" it opens the store, writes
// "open" and prunes when it gets a line.
import process from 'node:process'
import { once } from 'node:events'
import { openStore } from '../../dist/index.js'

const { home, input, waits } = JSON.parse(process.argv[2] ?? '{}')
const store = await openStore({ home, durability: 'process', inProcess: true })
if (waits) {
  process.stdout.write('open\n')
  await once(process.stdin, 'data')
}
process.stdout.write(`${JSON.stringify(await store.prune(input))}\n`)
await store.close()
process.stdin.destroy()
