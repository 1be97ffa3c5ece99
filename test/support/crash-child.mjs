// Runs operations in a child process, which a test can kill, race or give a hostile environment:
//   node crash-child.mjs '{"home":…,"project":…,"run":[["save",{"reason":"x"}],…]}'
// Prints one line of JSON: the results, or the error. Ends with 3 on a SavestateError.
// As root, `uid` makes it an ordinary user first. Before it opens the store it creates the file `ready` and waits for the file
// `waitFor`. `inProcess` is the option of `openStore`: no capture thread.
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore, SavestateError } from '../../dist/index.js'

const request = JSON.parse(process.argv[2] ?? '{}')
if (request.umask !== undefined) process.umask(request.umask)
if (request.uid !== undefined && process.getuid?.() === 0) {
  process.setgroups([])
  process.setgid(request.uid)
  process.setuid(request.uid)
}
if (request.ready !== undefined) writeFileSync(request.ready, '')
while (request.waitFor !== undefined && !existsSync(request.waitFor)) {
  // The test has failed and removed its folder: nothing will come.
  if (!existsSync(dirname(request.waitFor))) process.exit(1)
  await sleep(1)
}

try {
  const { home, limits, inProcess, durability = 'process' } = request
  const store = await openStore({ home, durability, limits, inProcess })
  const project = await store.project(request.project)
  const callOf = (name, { to, ...input } = {}) =>
    to === undefined ? project[name](input) : project[name](to, input)
  const results = []
  for (const [name, input] of request.run) {
    if (name === 'write') writeFileSync(join(request.project, input.path), input.content)
    else results.push(await (name === 'verify' ? store.verify() : callOf(name, input)))
  }
  await store.close()
  process.stdout.write(`${JSON.stringify({ results })}\n`)
} catch (error) {
  if (!(error instanceof SavestateError)) throw error
  process.stdout.write(`${JSON.stringify({ error })}\n`)
  process.exitCode = 3
}
