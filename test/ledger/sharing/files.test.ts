// Checkpoints with files: their packs, and rows whose objects are not here yet.
import { expect, test } from 'vitest'
import type { Ledger } from '../../../src/ledger/index.js'
import {
  type CheckpointId,
  type FilesCheckpoint,
  parseCheckpointId,
  parseObjectId,
  parseProjectId,
  type Project,
} from '../../../src/model/index.js'
import { encode, newChain, pull, pullAll, receive, REMOTE, sessionLog, ship } from './chain.js'
import { sessionPicture } from './pictures.js'
import { twoHomes } from './two-homes.js'

const LOG = sessionLog('task')
const TREES = ['1', '2', '3'].map((digit) => parseObjectId(digit.repeat(40)))
const COMMITS = ['a', 'b', 'c'].map((digit) => parseObjectId(digit.repeat(40)))
const DETAILS = {
  skippedPaths: [{ path: 'node_modules', reason: 'ignored', sizeBytes: null }],
  repositories: [{ path: '', commit: 'f'.repeat(40), branch: 'main' }],
} as never

function addProject(ledger: Ledger, letter: string): Project {
  return ledger.ensureProject({
    id: parseProjectId(letter.repeat(18)),
    path: `/project-${letter}` as never,
    createdAtMs: 1,
    parentDev: '1',
    parentIno: '1',
  })
}

function addStep(
  ledger: Ledger,
  step: number,
  files: { project: Project; n: number } | undefined,
): CheckpointId {
  const session = ledger.sessions.byId('task')
  if (session === undefined) throw new Error('the session exists')
  const id = parseCheckpointId('bcdfghjkl'.charAt(step).repeat(18))
  const position = {
    key: session.key,
    id: 'task',
    agent: null,
    parent: session.head,
    step,
    status: { state: 'in_progress' },
    turn: 0,
    toolCall: null,
    state: null,
    schemaVersion: null,
    metadata: undefined,
    operationId: null,
  } as const
  const facts = {
    id,
    kind: 'save',
    name: null,
    reason: null,
    createdAtMs: step,
    pinned: false,
    session: position,
  } as const
  ledger.transaction(() => {
    if (files === undefined)
      ledger.checkpoints.insert(
        { ...facts, project: null, authors: null, commit: null, snapshot: null, changes: null },
        undefined,
      )
    else {
      const { project, n } = files
      const snapshot = {
        tree: TREES[n],
        fileCount: 3 + n,
        sizeBytes: 100 + n,
        skippedCounts: { ignored: 1 },
      }
      const changes = { files: n, insertions: 2, deletions: 3 }
      const made = {
        ...facts,
        project: project.id,
        authors: ['coder'],
        commit: COMMITS[n],
        snapshot,
        changes,
      }
      ledger.checkpoints.insert(made as FilesCheckpoint, DETAILS)
    }
    ledger.sessions.advance(session, {
      head: id,
      status: { state: 'in_progress' },
      atMs: step,
      leaseUntilMs: null,
    })
  })
  return id
}

async function sharedFiles() {
  const homes = await twoHomes()
  const [a, b] = [homes.a.ledger, homes.b.ledger]
  const project = addProject(a, 'b')
  a.transaction(() =>
    a.sessions.create({
      id: 'task',
      agent: null,
      project: project.id,
      metadata: undefined,
      atMs: 1,
    }),
  )
  const first = addStep(a, 0, { project, n: 0 })
  const second = addStep(a, 1, undefined)
  const third = addStep(a, 2, { project, n: 1 })
  const same = addStep(a, 3, { project, n: 1 })
  a.sharing.share(LOG, { remote: REMOTE })
  const chain = newChain(LOG)
  return {
    homes,
    a,
    b,
    project,
    chain,
    ids: { first, second, third, same },
    [Symbol.asyncDispose]: () => homes[Symbol.asyncDispose](),
  }
}

/** As the engine does. */
function buildPacks(ledger: Ledger): void {
  for (const { tree } of ledger.sharing.packsToBuild(LOG)) {
    const parent = ledger.sharing.newestPack(LOG)?.id ?? null
    ledger.sharing.recordPack(LOG, { id: `pack-${tree.slice(0, 4)}`, parent, tree })
  }
}

test('each tree needs one pack, which builds on the one before', async () => {
  await using shared = await sharedFiles()
  const { a, chain, ids } = shared
  expect(a.sharing.newestPack(LOG)).toBe(undefined)
  expect(a.sharing.packsToBuild(LOG)).toEqual([
    { checkpoint: ids.first, tree: TREES[0], commit: COMMITS[0] },
    { checkpoint: ids.third, tree: TREES[1], commit: COMMITS[1] },
  ])
  buildPacks(a)
  expect(a.sharing.packsToBuild(LOG)).toEqual([])
  expect(a.sharing.newestPack(LOG)).toEqual({ id: 'pack-2222', tree: TREES[1] })
  const prepared = a.sharing.prepare(LOG, encode)
  expect(prepared?.checkpoints).toEqual([
    { id: ids.first, step: 0, pack: 'pack-1111' },
    { id: ids.second, step: 1, pack: null },
    { id: ids.third, step: 2, pack: 'pack-2222' },
    { id: ids.same, step: 3, pack: 'pack-2222' },
  ])
  expect(prepared?.packs).toEqual([
    {
      id: 'pack-1111',
      parent: null,
      parentTree: null,
      tree: TREES[0],
      commit: COMMITS[0],
      checkpoint: ids.first,
    },
    {
      id: 'pack-2222',
      parent: 'pack-1111',
      parentTree: TREES[0],
      tree: TREES[1],
      commit: COMMITS[1],
      checkpoint: ids.same,
    },
  ])
  if (prepared !== undefined) receive(chain, prepared)
  a.sharing.acknowledge(LOG, chain.position)
  // The remote has them now; a further checkpoint with a known tree needs none.
  addStep(a, 4, { project: shared.project, n: 0 })
  buildPacks(a)
  expect(a.sharing.prepare(LOG, encode)).toMatchObject({
    checkpoints: [{ step: 4, pack: 'pack-1111' }],
    packs: [],
  })
})

test('a row never names objects that are not here; attaching the files completes it', async () => {
  await using shared = await sharedFiles()
  const { a, b, chain, ids } = shared
  buildPacks(a)
  ship(a, chain)
  expect(pull(b, chain)).toBe('applied')
  const rows = b.checkpoints.list({ session: b.sessions.byId('task')?.key })
  expect(rows.map(({ snapshot, commit }) => [snapshot, commit])).toEqual(
    rows.map(() => [null, null]),
  )
  expect(rows.map((row) => 'filesPruned' in row)).toEqual(rows.map(() => false))
  expect(b.sharing.filesOf(ids.first)).toEqual({
    tree: TREES[0],
    pack: 'pack-1111',
    isLocal: false,
  })
  expect(b.sharing.filesOf(ids.second)).toBe(undefined)
  expect(b.sharing.missingFiles(LOG).map(({ checkpoint }) => checkpoint)).toEqual([
    ids.same,
    ids.third,
    ids.first,
  ])
  expect(b.rowChecks.rowFaults()).toEqual([])

  const project = addProject(b, 'c')
  b.sharing.setProject('task', project.id)
  const commits = new Map([
    [ids.first, COMMITS[0]],
    [ids.third, COMMITS[1]],
    [ids.same, COMMITS[1]],
  ])
  for (const [id, commit] of commits)
    if (commit !== undefined) b.sharing.attachFiles(id, { commit, project: project.id })
  expect(sessionPicture(b, 'task')).toEqual(sessionPicture(a, 'task'))
  expect(b.checkpoints.get(ids.first)?.project).toBe(project.id)
  expect(b.sharing.filesOf(ids.first)).toEqual({ tree: TREES[0], pack: 'pack-1111', isLocal: true })
  expect(b.sharing.missingFiles(LOG)).toEqual([])
  // That is no change, and the next pack can build on them.
  expect(b.sharing.get(LOG)?.isDirty).toBe(false)
  expect(b.sharing.newestPack(LOG)).toEqual({ id: 'pack-2222', tree: TREES[1] })
  // Again: another process was first.
  b.sharing.attachFiles(ids.first, { commit: parseObjectId('d'.repeat(40)), project: project.id })
  expect(b.checkpoints.get(ids.first)?.commit).toBe(COMMITS[0])
  expect(() =>
    b.sharing.attachFiles(ids.second, {
      commit: parseObjectId('d'.repeat(40)),
      project: project.id,
    }),
  ).toThrow(expect.objectContaining({ code: 'CHECKPOINT_UNKNOWN' }))
})

test('a host that never fetched the files sends their rows back unharmed, and keeps their details in a collection', async () => {
  await using shared = await sharedFiles()
  const { a, b, chain, ids } = shared
  buildPacks(a)
  ship(a, chain)
  expect(pull(b, chain)).toBe('applied')
  await b.vacuum.collect(async () => undefined)
  b.checkpoints.setPinned(ids.first, true)
  expect(ship(b, chain)).toBe(true)
  const [row] = chain.segments.at(-1)?.content.rows.checkpoints ?? []
  expect(row).toMatchObject({
    id: ids.first,
    pinned: 1,
    tree: TREES[0],
    pack: 'pack-1111',
    file_count: 3,
    size_bytes: 100,
  })
  expect(pull(a, chain)).toBe('applied')
  expect(a.checkpoints.get(ids.first)).toMatchObject({
    pinned: true,
    snapshot: { tree: TREES[0] },
    commit: COMMITS[0],
  })
  expect(a.checkpoints.details(ids.first)).toEqual(DETAILS)
  // All of it again, on the host that has the files.
  expect(pullAll(a, chain)).toBe('applied')
  expect(a.checkpoints.get(ids.first)).toMatchObject({
    snapshot: { tree: TREES[0] },
    commit: COMMITS[0],
  })
})

test('a prune of files, and a tree that `forget` replaced, reach the other host', async () => {
  await using shared = await sharedFiles()
  const { a, b, chain, ids } = shared
  buildPacks(a)
  ship(a, chain)
  expect(pull(b, chain)).toBe('applied')
  a.transaction(() => a.pruning.dropFiles([ids.first]))
  const [tree, commit] = [TREES[2], COMMITS[2]]
  if (tree === undefined || commit === undefined) throw new Error('there are three')
  const path = 'secret.txt' as never
  a.transaction(() => a.pruning.replaceFiles(ids.third, { tree, commit, files: 1, bytes: 9, path }))
  expect(a.sharing.packsToBuild(LOG)).toMatchObject([{ checkpoint: ids.third, tree }])
  // The row is sent without its pack, and again once there is one.
  ship(a, chain)
  expect(pull(b, chain)).toBe('applied')
  expect(b.sharing.filesOf(ids.third)).toEqual({ tree, pack: null, isLocal: false })
  expect(b.sharing.filesOf(ids.first)).toBe(undefined)
  expect(b.checkpoints.get(ids.first)).toMatchObject({ filesPruned: true })
  buildPacks(a)
  ship(a, chain)
  expect(pull(b, chain)).toBe('applied')
  expect(b.sharing.filesOf(ids.third)).toEqual({ tree, pack: 'pack-3333', isLocal: false })
})

test('after a missing pack a full one takes its place in the next try', async () => {
  await using shared = await sharedFiles()
  const { a, chain, project, ids } = shared
  buildPacks(a)
  ship(a, chain)
  addStep(a, 4, { project, n: 2 })
  buildPacks(a)
  expect(a.sharing.prepare(LOG, encode)?.packs).toMatchObject([
    { id: 'pack-3333', parent: 'pack-2222' },
  ])
  a.sharing.retract(LOG)
  const tree = TREES[2]
  if (tree === undefined) throw new Error('there are three')
  a.sharing.recordPack(LOG, { id: 'full', parent: null, tree })
  const prepared = a.sharing.prepare(LOG, encode)
  expect(prepared?.packs).toMatchObject([{ id: 'full', parent: null, parentTree: null, tree }])
  expect(prepared?.checkpoints).toMatchObject([{ step: 4, pack: 'full' }])
  expect(prepared?.removedCheckpoints).toEqual([])
  expect(ids.same).toBeDefined()
})
