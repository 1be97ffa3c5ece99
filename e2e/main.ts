// npm run test:agents [-- --agent claude] [--case words]: drives the real programs against a scripted model.
// docs/internals/agents-testing.md explains what that proves.
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installed } from './install.js'
import { runWithoutNetwork } from './namespace.js'
import { chosenAgents, OPTIONS, partnerOf } from './options.js'

const { values } = parseArgs({ options: OPTIONS })
try {
  const agents = chosenAgents(values.agent)
  for (const { packages } of new Set([...agents, ...agents.map(partnerOf)])) {
    for (const one of packages) await installed(one)
  }
  const inside = fileURLToPath(new URL('./inside.js', import.meta.url))
  process.exitCode = await runWithoutNetwork(process.execPath, [inside, ...process.argv.slice(2)])
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
