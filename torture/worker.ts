// A process that works on the store continuously, until it is killed.
import { createHash } from 'node:crypto'
import process from 'node:process'
import type { Problem, Session, Store } from '../src/index.js'
import { type Random, seededRandom } from '../bench/trees/random.js'
import { byCommands, type Workplace } from './commands.js'
import { differenceOf, linesOf, mutate } from './folder.js'
import type { Assignment, Known, ToModel, ToWorker } from './messages.js'

/** Errors that any process may get while others work and prunes run. */
const EXPECTED = new Set([
  'CHECKPOINT_UNKNOWN',
  'NOTHING_TO_UNDO',
  'NOTHING_TO_REDO',
  'PROJECT_BUSY',
  'SESSION_BUSY',
  'SESSION_UNKNOWN',
])

type State = { messages: { n: number; text: string }[] }

const assignment = JSON.parse(process.argv[2] ?? '{}') as Assignment
/** Opening the project finishes interrupted rewinds, but may report one that is killed meanwhile. Then try again. */
const ATTEMPTS = 3

const { openStore } = (await import(assignment.sdk)) as typeof import('../src/index.js')
const random: Random = seededRandom(assignment.seed)
const granted = new Map<string, (known: readonly Known[]) => void>()
let isStopping = false

process.on('message', (message: ToWorker) => {
  if (message.kind === 'stop') isStopping = true
  else granted.get(message.project)?.(message.known)
})
// The model process is gone, so there is no one to report to.
process.on('disconnect', () => process.exit(1))

const store = await openStore({ home: assignment.home })
let session: Session<State> | undefined
const timer = setInterval(tellMemory, 5_000)
while (!isStopping) await tryOne(random.pick(works()))
tellMemory()
clearInterval(timer)
await store.close()
process.disconnect()

type Work = readonly [name: string, run: () => Promise<void>]

function works(): readonly Work[] {
  const change: Work = ['save', () => withFolder(saveChange)]
  const step: Work = ['step', sessionStep]
  return [
    change,
    change,
    change,
    step,
    step,
    step,
    ['save beside', async () => void (await (await anyProject()).save())],
    ['rewind', () => withFolder(rewindSomewhere)],
    ['undo', () => withFolder(async ({ project }) => void (await project.undo()))],
    ['diff', async () => void (await (await anyProject()).diff('1'))],
    ['list', async () => void (await (await anyProject()).list())],
    ['prune', () => pruneNow(store)],
    ['verify', verifyNow],
  ]
}

async function tryOne([what, run]: Work): Promise<void> {
  try {
    await run()
    tell({ kind: 'done', what })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (EXPECTED.has(code)) tell({ kind: 'done', what: `${what}: ${code}` })
    else
      tell({
        kind: 'fault',
        what,
        message: error instanceof Error ? `${code} ${error.stack}` : String(error),
      })
  }
}

type Held = { readonly path: string; readonly project: Workplace; readonly known: readonly Known[] }

/** While no other process changes the folder. */
async function withFolder(work: (held: Held) => Promise<void>): Promise<void> {
  const path = random.pick(assignment.projects)
  const known = await new Promise<readonly Known[]>((resolve) => {
    granted.set(path, resolve)
    tell({ kind: 'want', project: path })
  })
  try {
    const project = await openProject(path)
    // The next command finishes the work of a killed process, which must not mix with the change; work that the
    // daemon still does for a killed command holds the lock.
    await project.save()
    await work({ path, project, known })
  } finally {
    tell({ kind: 'release', project: path })
  }
}

async function saveChange({ path, project }: Held): Promise<void> {
  mutate(path, random)
  const lines = linesOf(path)
  const isNamed = random.below(12) === 0
  const name = isNamed ? { name: `keep-${assignment.seed}-${random.below(1_000_000)}` } : {}
  const { id } = await project.save({ reason: 'torture', ...name })
  const isPinned = random.below(15) === 0
  if (isPinned) await project.pin(id)
  tell({ kind: 'saved', project: path, known: { id, lines, isProtected: isNamed || isPinned } })
}

async function rewindSomewhere({ path, project, known }: Held): Promise<void> {
  if (known.length === 0) return
  const target = random.pick(known)
  try {
    await project.rewind(target.id)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'CHECKPOINT_UNKNOWN'))
      throw error
    tell({ kind: 'missing', project: path, id: target.id })
    return
  }
  const difference = differenceOf(linesOf(path), target.lines)
  if (difference !== undefined)
    throw new Error(`a rewind to ${target.id} did not bring back the folder: ${difference}`)
}

async function sessionStep(): Promise<void> {
  session ??= await openOwnSession()
  const latest = await session.latest()
  const n = (latest?.step ?? -1) + 1
  const item = { n, text: `step ${n} `.repeat(1 + random.below(20)) }
  tell({ kind: 'stepping', session: assignment.session, step: n })
  const { step } = await session.append('messages', [item])
  const state = await session.stateAt('1')
  tell({
    kind: 'stepped',
    session: assignment.session,
    step: step ?? -1,
    digest: stateDigest(state),
  })
}

async function openOwnSession(): Promise<Session<State>> {
  const id = assignment.session
  const known = await store.sessions()
  if (!known.some((view) => view.id === id)) return store.session<State>(id)
  const resumed = await store.resume<State>(id)
  const latest = await resumed.session.latest()
  tell({
    kind: 'resumed',
    session: id,
    step: latest?.step ?? -1,
    digest: stateDigest(resumed.state),
  })
  return resumed.session
}

function stateDigest(state: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(state ?? null))
    .digest('hex')
    .slice(0, 24)
}

async function pruneNow(open: Store): Promise<void> {
  await open.prune({ unattended: random.below(2) === 0 })
}

async function verifyNow(): Promise<void> {
  let damage: readonly Problem[] = []
  for (let look = 0; look < ATTEMPTS; look += 1) {
    const { problems } = await store.verify()
    damage = problems.filter(({ severity }) => severity === 'damage')
    if (damage.length === 0) return
    if (damage.some(({ kind }) => kind !== 'interrupted')) break
  }
  throw new Error(`verify: ${JSON.stringify(damage.slice(0, 3))}`)
}

async function anyProject(): Promise<Workplace> {
  return openProject(random.pick(assignment.projects))
}

async function openProject(path: string): Promise<Workplace> {
  const { program, watch } = assignment
  return program === undefined ? store.project(path, { watch }) : byCommands(program, path)
}

function tellMemory(): void {
  // Then the daemon's counts.
  if (assignment.program !== undefined) return
  tell({ kind: 'memory', residentMb: Math.round(process.memoryUsage.rss() / 2 ** 20) })
}

function tell(message: ToModel): void {
  process.send?.(message)
}
