/** Resuming on a host with an empty disk: a state of 3,000 steps, and a folder with 2,000 files. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { type Bench, OURS, shared } from '../../bench.js'
import { inNewChild, startChild } from '../../child-process.js'
import { figureOf, flushDisk, runRounds, timed } from '../../measure.js'
import { postgresPeers, requirePeers } from '../../peers/installed-peers.js'
import { run } from '../../programs.js'
import { against, type Row } from '../../row.js'
import { emptyDatabase, remoteDatabase } from './server.js'
import { openStore } from '../../sdk.js'
import { conversationOf, digestOf } from '../../states/conversation.js'
import { SESSION } from '../../states/state-child.js'
import { LENGTH } from '../../states/state-race.js'

const STATE_LIMIT = 0.5
const FILES_LIMIT = 2
const ROUNDS = 5
const PEER = 'PostgresSaver'
const CLONE = 'git clone'

/** Databases with the same conversation of 3,000 steps, ours written step by step. */
const written = shared(async (bench: Bench) => {
  const packages = requirePeers(await postgresPeers(bench))
  const [ours, peer] = [await remoteDatabase(bench), await emptyDatabase(bench)]
  const write = async (writer: 'append' | 'PostgresSaver', remote: string) => {
    const child = startChild()
    try {
      const place = { folder: bench.scratch.folder('written'), session: SESSION, packages, remote }
      await child.ask({ kind: 'begin-writing', writer, place, after: 0 })
      if (writer === 'append') await child.ask({ kind: 'steps', steps: LENGTH })
      else await child.ask({ kind: 'leap', steps: LENGTH })
      await child.ask({ kind: 'end-writing' })
    } finally {
      await child.end()
    }
  }
  bench.log(`${LENGTH} shared steps`)
  await write('append', ours.url)
  await write('PostgresSaver', peer.url)
  return { packages, ours: ours.url, peer: peer.url }
})

export const resumeState: Row = {
  name: `resume-empty-state-${LENGTH}`,
  async measure(bench) {
    const { packages, ours, peer } = await written(bench)
    const digest = digestOf(conversationOf(LENGTH))
    const load = async (
      request: Parameters<typeof inNewChild<'resume-remote' | 'get-tuple'>>[0],
    ) => {
      const { ms, digest: found } = await inNewChild(request)
      if (found !== digest)
        throw new Error('The resumed state differs from the one that was written')
      return ms
    }
    const medians = await runRounds({
      count: ROUNDS,
      warmUps: 1,
      before: () => flushDisk(),
      contestants: [
        {
          name: OURS,
          time: () =>
            load({ kind: 'resume-remote', home: bench.scratch.folder('empty'), remote: ours }),
        },
        { name: PEER, time: () => load({ kind: 'get-tuple', remote: peer, packages }) },
      ],
    })
    return {
      ours: figureOf(medians, OURS),
      peer: figureOf(medians, PEER),
      limit: STATE_LIMIT,
      unit: 'ms',
      detail: `empty home, against ${PEER}.getTuple; first call of a new process, connection included`,
    }
  },
}

export const resumeFiles: Row = {
  name: 'resume-empty-2k',
  async measure(bench) {
    const tree = await bench.tree({ shape: '2k' })
    const remote = (await remoteDatabase(bench)).url
    const store = await openStore(bench.scratch.folder('shared-files'), { remote })
    const project = await store.project(tree.path)
    const session = await store.session(SESSION, { project })
    await session.save({ state: {}, files: true })
    await store.close()
    const origin = await committed(bench, tree.path)
    const medians = await runRounds({
      count: ROUNDS,
      warmUps: 1,
      before: () => flushDisk(),
      contestants: [
        {
          name: OURS,
          async time() {
            const into = bench.scratch.folder('resumed')
            const home = bench.scratch.folder('empty')
            const { ms } = await inNewChild({ kind: 'resume-remote', home, remote, into })
            expectSameFiles(into, tree.path)
            return ms
          },
        },
        {
          name: CLONE,
          async time() {
            const to = bench.scratch.path('clone')
            const args = ['clone', '--quiet', `file://${origin}`, to]
            const cwd = bench.scratch.folder('at')
            const ms = await timed(() => run({ program: 'git', args, cwd }))
            expectSameFiles(to, tree.path)
            return ms
          },
        },
      ],
    })
    return against(medians, { ours: OURS, limit: FILES_LIMIT })
  },
}

/** Throws unless both folders have the same files with the same contents. */
function expectSameFiles(found: string, wanted: string): void {
  const [files, others] = [filesIn(wanted), filesIn(found)]
  const same = (path: string) =>
    readFileSync(join(found, path)).equals(readFileSync(join(wanted, path)))
  if (files.join() !== others.join() || !files.every(same))
    throw new Error(`${found} does not have the files of ${wanted}`)
}

/** Without those of a repository. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith('.git/'))
    .toSorted()
}

/** A repository with the files of a folder in one commit. */
async function committed(bench: Bench, tree: string): Promise<string> {
  const origin = bench.scratch.folder('origin')
  const git = (...args: readonly string[]) =>
    run({
      program: 'git',
      args: ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args],
      cwd: origin,
    })
  await git('init', '--quiet')
  await git(`--work-tree=${tree}`, 'add', '--all')
  await git(`--work-tree=${tree}`, 'commit', '--quiet', '--message=files')
  return origin
}
