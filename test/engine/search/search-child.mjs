// Searches in a child process: node search-child.mjs '{"home":…,"project":…,"words":…}'. Prints the numbers of matches and of
// searched checkpoints.
import process from 'node:process'
import { openStore } from '../../../dist/index.js'

const { home, project: path, words } = JSON.parse(process.argv[2] ?? '{}')
const store = await openStore({ home, durability: 'process', inProcess: true })
const project = await store.project(path)
const { matches, searched } = await project.search(words, { limit: 1000 })
process.stdout.write(`${matches.length} ${searched}`)
await store.close()
