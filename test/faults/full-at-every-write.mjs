// Repeats one operation from the same start, with a disk that is full at the first write, the second, and so on, until it succeeds:
//   node full-at-every-write.mjs '{"home":…,"project":…,"scratch":…,"operation":"save","target":<id>,"held":{…}}'
// Restores `home` and `project` before each attempt; `held` is the content of the checkpoint `target`. Prints one line of JSON: how
// many attempts failed, and what was wrong after them. It is a separate process because it replaces node's write functions.
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { failWritesFrom, allowWrites } from '../support/disk-full.mjs'
import { openStore, SavestateError } from '../../dist/index.js'

const request = JSON.parse(process.argv[2] ?? '{}')
const { home, project: folder } = request
const start = [home, folder].map((path, i) => ({ path, copy: join(request.scratch, String(i)) }))
const held = linesOf(Object.entries(request.held))
const faults = []
let failures = 0
/** The content of the folder after the operation. */
let done = ''

const OPERATIONS = {
  save: ({ project }) => project.save({ reason: 'on a full disk' }),
  rewind: ({ project }) => project.rewind(request.target),
  session: ({ session }) =>
    session.save({ state: { messages: ['one', 'two'] }, files: true, reason: 'step' }),
}

for (const { path, copy } of start) copyFolder(path, copy)
await attempt(Infinity)
for (let at = 1; !(await attempt(at)); at += 1);
process.stdout.write(`${JSON.stringify({ failures, faults })}\n`)

/** True if the operation succeeded. */
async function attempt(at) {
  for (const { path, copy } of start) copyFolder(copy, path)
  const fault = (text) => faults.push(`full at write ${at}: ${text}`)
  const store = await openStore({ home, inProcess: true, durability: 'process' })
  try {
    const project = await store.project(folder)
    const session =
      request.operation === 'session' ? await store.session('agent', { project }) : undefined
    const before = { files: filesIn(folder), list: await idsOf(project) }
    failWritesFrom(at)
    const error = await OPERATIONS[request.operation]({ project, session }).then(
      () => undefined,
      (thrown) => thrown,
    )
    const writes = allowWrites()
    if (error === undefined) {
      done = filesIn(folder)
      // Some writes may fail without harm, such as the owner file of a lock.
      return writes < at
    }
    failures += 1
    if (!(error instanceof SavestateError) || error.code !== 'DISK_FULL')
      fault(`not DISK_FULL but ${error.stack}`)
    await lookAround({ store, project, before, fault })
    return false
  } finally {
    await store.close()
  }
}

/** With free space again, in the same process: nothing is lost, and every operation works. */
async function lookAround({ store, project, before, fault }) {
  const list = await idsOf(project)
  if (before.list.some((id) => !list.includes(id))) fault('a checkpoint is gone')
  const now = filesIn(folder)
  if (now !== before.files && now !== done) fault(`the folder is half done: ${now}`)
  const { problems } = await store.verify({ quick: true })
  if (problems.length > 0) fault(JSON.stringify(problems))
  await OPERATIONS.save({ project })
  await project.rewind(request.target)
  if (filesIn(folder) !== held) fault('an older checkpoint does not come back')
  const left = [
    ...leftIn(folder, /\.savestate-tmp-/),
    ...leftIn(home, /\.tmp$|^tmp\/.|^journal\/./),
  ]
  if (left.length > 0) fault(`left behind: ${left.join(', ')}`)
}

function copyFolder(from, to) {
  execFileSync('sh', ['-c', 'rm -rf "$2" && cp -a "$1" "$2"', 'sh', from, to])
}

async function idsOf(project) {
  const checkpoints = await project.list({ limit: 1000 })
  return checkpoints.map(({ id }) => id)
}

function leftIn(path, form) {
  const names = existsSync(path) ? readdirSync(path, { recursive: true }) : []
  return names.filter((name) => form.test(name))
}

function filesIn(path) {
  const names = readdirSync(path, { recursive: true })
  const isFile = (name) => lstatSync(join(path, name)).isFile()
  return linesOf(
    names.filter(isFile).map((name) => [name, readFileSync(join(path, name), 'latin1')]),
  )
}

function linesOf(files) {
  return files
    .map(([name, content]) => `${name}: ${content}`)
    .sort()
    .join('\n')
}
