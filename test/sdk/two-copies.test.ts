// A program whose dependencies bring two copies of the package: two modules, and two SQLite libraries, in one process.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../support/scratch.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

function secondCopy({ folder }: Scratch): string {
  const copy = join(folder, 'copy')
  mkdirSync(copy)
  // Not links: the system would see that the library is the same.
  for (const part of ['dist', 'build/internal', 'package.json'])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true })
  return copy
}

/** In a process that has both copies, `a` and `b`. */
function withBoth(s: Scratch, script: string): unknown {
  const folders = [ROOT, secondCopy(s)]
  const urls = folders.map((folder) => pathToFileURL(join(folder, 'dist', 'index.js')))
  const internals = folders.map((folder) =>
    pathToFileURL(join(folder, 'build', 'internal', 'internal.js')),
  )
  const head = `
    import { writeFileSync } from 'node:fs'
    import { spawnSync } from 'node:child_process'
    const urls = ${JSON.stringify(urls)}
    const internals = ${JSON.stringify(internals)}
    const [a, b] = await Promise.all(
      urls.map(async (url, i) => ({ ...(await import(internals[i])), ...(await import(url)) })),
    )
    const [home, folder] = ${JSON.stringify([s.home, s.project])}
    const tell = (value) => process.stdout.write(JSON.stringify(value))
    /** The count of another process, which is the last to close the ledger, or takes itself for it. */
    const stepsElsewhere = () => spawnSync(process.execPath, ['--input-type=module', '-e', \`
      const { openStore } = await import(${JSON.stringify(urls[0])})
      const store = await openStore({ home: \${JSON.stringify(home)} })
      const session = await store.session('task', { create: false, lease: false })
      process.stdout.write(String((await session.list()).length))
      await store.close()\`], { encoding: 'utf8' }).stdout`
  const args = ['--input-type=module', '--eval', head + script]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

test('in two threads, they save one project at the same time, and the store is sound', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const script = `
    import { Worker } from 'node:worker_threads'
    const work = (entry, id) => \`
      import { parentPort } from 'node:worker_threads'
      import { writeFileSync } from 'node:fs'
      async function all() {
        const { openStore } = await import(\${JSON.stringify(entry)})
        const store = await openStore({ home: \${JSON.stringify(home)} })
        const project = await store.project(\${JSON.stringify(folder)})
        const session = await store.session(\${JSON.stringify(id)})
        for (let n = 0; n < 15; n += 1) {
          writeFileSync(\${JSON.stringify(folder + '/' + id)}, String(n))
          await project.save()
          await session.save({ state: { n } })
        }
        const steps = (await session.list()).length
        await store.close()
        return steps
      }
      all().then((steps) => parentPort.postMessage(steps), (error) => parentPort.postMessage(error.message))\`
    const first = await a.openStore({ home })
    await (await first.project(folder)).save()
    const ends = urls.map((url, i) => new Promise((resolve) => {
      new Worker(work(url, 'of-' + i), { eval: true }).on('message', resolve)
    }))
    const steps = await Promise.all(ends)
    const { problems } = await first.verify()
    await first.close()
    tell({ steps, problems })`
  expect(withBoth(s, script)).toEqual({ steps: [15, 15], problems: [] })
})

test('only one of them has a lock', async () => {
  await using s = await scratch()
  const script = `
    const place = await a.acquireDaemonLock({ home })
    const isTaken = async (sdk) => (await sdk.acquireDaemonLock({ home })) !== undefined
    const meanwhile = [await isTaken(a), await isTaken(b)]
    place.release()
    tell([...meanwhile, await isTaken(b), await isTaken(a)])`
  expect(withBoth(s, script)).toEqual([false, false, true, false])
})

test('both save one project at the same time, and the store is sound', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const script = `
    const stores = await Promise.all([a, b].map((sdk) => sdk.openStore({ home })))
    const projects = await Promise.all(stores.map((store) => store.project(folder)))
    const faults = []
    for (let round = 0; round < 15; round += 1) {
      for (let i = 0; i < 20; i += 1) writeFileSync(folder + '/f' + i, round + ' ' + i)
      const saves = projects.map((project) => project.save().catch((error) => faults.push(error.message)))
      await Promise.all(saves)
    }
    const { problems } = await stores[0].verify()
    for (const store of stores) await store.close()
    tell({ faults, problems })`
  expect(withBoth(s, script)).toEqual({ faults: [], problems: [] })
})

test('what one saves after the other has closed the store is there for others', async () => {
  await using s = await scratch()
  const script = `
    const [first, second] = await Promise.all([a, b].map((sdk) => sdk.openStore({ home })))
    const session = await first.session('task')
    await session.save({ state: { n: 1 } })
    const before = stepsElsewhere()
    await second.close()
    await session.save({ state: { n: 2 } })
    const after = stepsElsewhere()
    await session.save({ state: { n: 3 } })
    const cleared = await b.clearStore({ home }).then(() => 'cleared', ({ code }) => code)
    await first.close()
    tell([before, after, stepsElsewhere(), cleared])`
  expect(withBoth(s, script)).toEqual(['1', '2', '3', 'STORE_BUSY'])
})
