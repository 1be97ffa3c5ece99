// Agents that die: a child doing steps and tools is killed at random; after each resume every acknowledged step
// is there, every confirmed tool ran once, and the state is that of a model kept outside (docs/internals/sessions.md).
// `npm run torture:sessions` does it 200 times and lets two processes fight for 30 seconds; here it is shorter.
/* oxlint-disable vitest/expect-expect, vitest/no-conditional-expect -- expectNothingLost does */
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const SDK = new URL('../../../dist/index.js', import.meta.url).href
const KILLS = Number(process.env['SAVESTATE_KILLS'] ?? tries(48))
const FIGHT_MS = Number(process.env['SAVESTATE_FIGHT_MS'] ?? tries(10_000))
/** The number of confirmed steps after which the test may end. */
const ENOUGH = 20
const LATEST_MS = 60_000

/**
 * Runs forever. After each confirmed step it writes a line to its own file, unbuffered: every line of that file must be in the
 * store. Effects of tools are lines in another file.
 */
const AGENT = `
  import { appendFileSync } from 'node:fs'
  import { openStore } from ${JSON.stringify(SDK)}
  const [home, project, told, effects] = process.argv.slice(2)
  const store = await openStore({ home, durability: 'process' })
  const { session, state, inFlight } = await store.resume('task').catch(async (error) => {
    if (error.code !== 'SESSION_UNKNOWN') throw error
    const session = await store.session('task', { project: await store.project(project) })
    return { session, state: { steps: [] }, inFlight: [] }
  })
  for (const { id } of inFlight) await session.resolveToolCall(id, { as: 'skipped' })
  const now = { steps: [...(state?.steps ?? [])] }
  process.stdout.write('up\\n')
  for (let n = now.steps.length; ; n++) {
    const id = 'call-' + n
    const result = await session.tool({ id, name: 'effect', args: n }, () => {
      appendFileSync(effects, id + '\\n')
      return 'result ' + n
    })
    // A call that was skipped after a crash has no result, and was never confirmed to the agent.
    if (result !== undefined) appendFileSync(told, 'tool ' + id + '\\n')
    now.steps.push({ n, text: 'x'.repeat(n % 50), result: result ?? null })
    if (n % 3 === 0) await session.append('steps', [now.steps.at(-1)])
    await session.save({ state: now, files: n % 5 === 0 })
    appendFileSync(told, 'step ' + n + '\\n')
  }
`

test(`an agent killed ${KILLS} times loses no acknowledged step and repeats no confirmed tool`, async () => {
  await using s = await scratch({ files: { 'a.txt': 'a' } })
  const files = agentFiles(s)
  for (let kill = 0; kill < KILLS; kill++) {
    const child = startAgent(s, files)
    await once(child.stdout ?? child, 'data')
    writeFileSync(join(s.project, 'a.txt'), `${kill}`)
    await sleep(Math.random() * 60)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await expectNothingLost(s, files)
  }
}, 300_000)

test(`two processes that compete for one session never write at the same time`, async () => {
  await using s = await scratch()
  const log = join(s.folder, 'acknowledged')
  writeFileSync(log, '')
  const fighter = join(s.folder, 'fighter.mjs')
  writeFileSync(
    fighter,
    `
    import { appendFileSync } from 'node:fs'
    import { openStore } from ${JSON.stringify(SDK)}
    const [home, log, name] = process.argv.slice(2)
    const me = name + process.pid + '-'
    const store = await openStore({ home, durability: 'process' })
    for (let n = 0; ; n++) {
      try {
        const session = await store.session('task')
        for (let i = 0; i < 5; i++) {
          const { step } = await session.append('marks', [me + n + '.' + i])
          appendFileSync(log, step + ' ' + me + n + '.' + i + '\\n')
        }
        await session.close()
      } catch (error) {
        if (error.code !== 'SESSION_BUSY' && error.code !== 'SESSION_FENCED') throw error
      }
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
    }
    `,
  )
  const acknowledgedSoFar = () => readFileSync(log, 'utf8').trim().split('\n')
  const end = Date.now() + FIGHT_MS
  // A loaded machine needs longer to make enough progress.
  const isOver = () => {
    const left = end - Date.now()
    return left < -LATEST_MS || (left <= 0 && acknowledgedSoFar().length > ENOUGH)
  }
  const fighters = ['a', 'b'].map((me) => keepFighting(() => [fighter, s.home, log, me], isOver))
  await Promise.all(fighters)
  const acknowledged = acknowledgedSoFar()
  expect(acknowledged.length).toBeGreaterThan(ENOUGH)
  const session = await (await s.open()).session('task')
  const { marks } = (await session.stateAt()) as { marks: string[] }
  const steps = acknowledged.map((line) => line.split(' ')[0])
  expect(new Set(steps).size).toBe(steps.length)
  for (const line of acknowledged) expect(marks).toContain(line.split(' ')[1])
  expect(new Set(marks).size).toBe(marks.length)
})

type AgentFiles = { readonly agent: string; readonly told: string; readonly effects: string }

function agentFiles(s: Scratch): AgentFiles {
  const files = {
    agent: join(s.folder, 'agent.mjs'),
    told: join(s.folder, 'told'),
    effects: join(s.folder, 'effects'),
  }
  writeFileSync(files.agent, AGENT)
  for (const file of [files.told, files.effects]) appendFileSync(file, '')
  return files
}

function startAgent(s: Scratch, { agent, told, effects }: AgentFiles): ChildProcess {
  const args = [agent, s.home, s.project, told, effects]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function expectNothingLost(s: Scratch, { told, effects }: AgentFiles): Promise<void> {
  // The kill may truncate the last line: an incomplete line was not confirmed.
  const lines = readFileSync(told, 'utf8').split('\n').slice(0, -1)
  const done = readFileSync(effects, 'utf8').split('\n').slice(0, -1)
  expect(new Set(done).size, 'no effect happened twice').toBe(done.length)
  const store = await s.open()
  if ((await store.sessions()).length === 0) {
    expect(lines).toEqual([])
    await store.close()
    return
  }
  const { state, session, inFlight } = await store.resume<Model>('task')
  const steps = lines.filter((line) => line.startsWith('step ')).length
  const saved = state?.steps ?? []
  expect(saved.length).toBeGreaterThanOrEqual(steps)
  // A call that was skipped after a crash has no result.
  const model = saved.map(({ result }, n) => ({
    n,
    text: 'x'.repeat(n % 50),
    result: result === null ? null : `result ${n}`,
  }))
  expect(saved).toEqual(model)
  for (const line of lines.filter((one) => one.startsWith('tool '))) {
    const id = line.slice('tool '.length)
    expect(inFlight.map((call) => call.id)).not.toContain(id)
    const again = await session.tool({ id, name: 'effect' }, () => 'ran again')
    expect(again).toBe(`result ${id.slice('call-'.length)}`)
  }
  await store.close()
}

type Model = {
  readonly steps: readonly {
    readonly n: number
    readonly text: string
    readonly result: string | null
  }[]
}

/** Starts it again whenever it is killed, and kills it now and then. */
async function keepFighting(args: () => readonly string[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const child = spawn(process.execPath, [...args()], { stdio: ['ignore', 'ignore', 'pipe'] })
    let complaint = ''
    child.stderr.on('data', (text: Buffer) => (complaint += text.toString()))
    await sleep(500 + Math.random() * 1000)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(complaint).toBe('')
  }
  expect(existsSync(args()[0] ?? '')).toBe(true)
}
