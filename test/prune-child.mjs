// A prune in a process of its own, so that it can be killed: node prune-child.mjs '{"home":…,"input":{…}}'
import process from 'node:process'
import { openStore } from '../dist/index.js'

const { home, input } = JSON.parse(process.argv[2] ?? '{}')
const store = await openStore({ home, durability: 'os', mayBlock: true })
process.stdout.write(`${JSON.stringify(await store.prune(input))}\n`)
await store.close()
