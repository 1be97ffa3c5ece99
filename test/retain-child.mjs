// A retention or a prune in a process of its own, which begins when it is told to: node retain-child.mjs HOME retain|prune
import process from 'node:process'
import { once } from 'node:events'
import { openStore } from '../dist/index.js'

const [home, call] = process.argv.slice(2)
const store = await openStore({ home, durability: 'os', mayBlock: true })
process.stdout.write('open\n')
await once(process.stdin, 'data')
process.stdout.write(`${JSON.stringify(await store[call]())}\n`)
await store.close()
process.stdin.destroy()
