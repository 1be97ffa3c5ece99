import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  bytePath,
  bytePathFromBytes,
  type FilesCheckpoint,
  type Operation,
  parseCheckpointId,
  parseObjectId,
  parseOperationId,
  parseProjectId,
  type Project,
  type SnapshotDetails,
} from '../../src/model/index.js'
import { openDatabase } from '../../src/system/index.js'
import { Ledger, SCHEMA_VERSION } from '../../src/ledger/index.js'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'savestate-ledger-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let count = 0
function newHome(): string {
  return mkdtempSync(join(root, `${++count}-`))
}

const LETTERS = 'bcdfghjklmnpqrstvwxz'
const id = (n: number) =>
  'b'.repeat(16) + LETTERS.charAt(Math.floor(n / 20)) + LETTERS.charAt(n % 20)

const DETAILS: SnapshotDetails = {
  skippedPaths: [
    {
      path: bytePathFromBytes(Buffer.from([0xff, 0x0a, 0x22])),
      reason: 'too-large',
      sizeBytes: 12,
    },
    { path: bytePath('größe'), reason: 'ignored', sizeBytes: null },
  ],
  repositories: [{ path: bytePath('sub'), commit: null, branch: 'main' }],
}

function newProject(n: number): Project {
  return { id: parseProjectId(id(n)), path: bytePath(`/project/${n}`) }
}

function newCheckpoint(
  n: number,
  project: Project,
  rest: Partial<FilesCheckpoint> = {},
): FilesCheckpoint {
  return {
    id: parseCheckpointId(id(n)),
    project: project.id,
    kind: 'save',
    name: null,
    reason: `number ${n}`,
    createdAtMs: 1000 + n,
    pinned: false,
    authors: ['you'],
    commit: parseObjectId('c'.repeat(40)),
    snapshot: {
      tree: parseObjectId('d'.repeat(40)),
      fileCount: 3,
      sizeBytes: 4_000_000_000,
      skippedCounts: { ignored: 1, 'too-large': 1 },
    },
    changes: { files: 1, insertions: 2, deletions: 3 },
    session: null,
    ...rest,
  }
}

function opened(): { home: string; ledger: Ledger; project: Project } {
  const home = newHome()
  const ledger = Ledger.open(home, { durability: 'process' })
  const project = newProject(0)
  ledger.ensureProject({ ...project, createdAtMs: 1, parentDev: '1', parentIno: '2' })
  return { home, ledger, project }
}

test('another process reads back exactly what was written', () => {
  const { home, ledger, project } = opened()
  const first = newCheckpoint(1, project)
  const second = newCheckpoint(2, project, { name: 'größe', pinned: true, reason: null })
  const operation: Operation = {
    id: parseOperationId(id(7)),
    project: project.id,
    kind: 'rewind',
    atMs: 5,
    safety: first.id,
    result: second.id,
    of: null,
  }
  ledger.addCheckpoint(first, DETAILS)
  ledger.addOperation(operation, { checkpoint: second, details: DETAILS })
  ledger.close()

  const again = Ledger.open(home, { durability: 'fsync' })
  expect(again.checkpoints.list({ project: project.id, limit: undefined })).toEqual([second, first])
  expect(again.checkpoints.list({ project: undefined, limit: 1 })).toEqual([second])
  expect(again.operations(project.id)).toEqual([operation])
  expect(again.checkpoints.details(first.id)).toEqual(DETAILS)
  expect(again.checkpoints.newestFiles(project.id)).toEqual(second)
  expect(again.checkpoints.filesBefore(second)).toEqual(first)
  expect(again.checkpoints.filesBefore(first)).toBeUndefined()
  expect(again.checkpoints.byNumber({ project: project.id }, 1)).toEqual(second)
  expect(again.checkpoints.byNumber({ project: project.id }, 2)).toEqual(first)
  expect(again.checkpoints.byNumber({ project: project.id }, 3)).toBeUndefined()
  expect(again.checkpoints.byName({ project: project.id }, 'größe')).toEqual(second)
  expect(again.checkpoints.byName({ project: project.id }, 'absent')).toBeUndefined()
  expect(again.rowChecks.fileFaults({ quick: false })).toEqual([])
  expect(again.rowChecks.dangling()).toEqual([])
  again.close()
})

test('removing a checkpoint gives its authors to the next one with files', () => {
  const { ledger, project } = opened()
  const names = [['you'], ['claude'], [], ['codex'], ['you', 'you?']]
  const all = names.map((authors, n) => newCheckpoint(n + 1, project, { authors }))
  for (const one of all) ledger.addCheckpoint(one, DETAILS)
  const left = () =>
    ledger.authorship
      .stepsFrom(project.id, all[0]?.id ?? parseCheckpointId(id(1)))
      .map(({ authors }) => authors)
  ledger.transaction(() => ledger.pruning.drop(all.slice(1, 3).map((one) => one.id)))
  expect(left()).toEqual([['you'], ['claude', 'codex'], ['you', 'you?']])
  ledger.transaction(() => ledger.pruning.drop(all.slice(3, 4).map((one) => one.id)))
  expect(left()).toEqual([['you'], ['claude', 'codex', 'you', 'you?']])
  // The end of a call resolves only the authors that waited for it.
  ledger.authorship.settle(all.map((one) => one.id))
  expect(left()).toEqual([['you'], ['claude', 'codex', 'you']])
  ledger.close()
})

test('an operation whose checkpoint cannot be written is not written either', () => {
  const { ledger, project } = opened()
  const first = newCheckpoint(1, project)
  ledger.addCheckpoint(first, DETAILS)
  const operation: Operation = {
    id: parseOperationId(id(7)),
    project: project.id,
    kind: 'rewind',
    atMs: 5,
    safety: parseCheckpointId(id(9)),
    result: parseCheckpointId(id(2)),
    of: null,
  }
  // Its safety checkpoint does not exist.
  const result = { checkpoint: newCheckpoint(2, project), details: DETAILS }
  expect(() => ledger.addOperation(operation, result)).toThrow(/FOREIGN KEY/)
  expect(ledger.checkpoints.list({ project: project.id, limit: undefined })).toEqual([first])
  expect(ledger.operations(project.id)).toEqual([])
  ledger.close()
})

test('a project is identified by the bytes of its path, and created once', () => {
  const { ledger } = opened()
  const path = bytePathFromBytes(Buffer.from('/caf\xe9 \xff', 'latin1'))
  const more = { createdAtMs: 1, parentDev: '1', parentIno: '2' }
  const made = ledger.ensureProject({ id: parseProjectId(id(3)), path, ...more })
  expect(ledger.ensureProject({ id: parseProjectId(id(4)), path, ...more })).toEqual(made)
  expect(ledger.projectAt(path)).toEqual({ id: id(3), path })
  expect(ledger.project(parseProjectId(id(3)))).toEqual({ id: id(3), path })
  expect(ledger.projectAt(bytePath('/absent'))).toBeUndefined()
  ledger.close()
})

test('a prefix finds checkpoints of its own project only, and is not a pattern', () => {
  const { ledger, project } = opened()
  const other = newProject(1)
  ledger.ensureProject({ ...other, createdAtMs: 1, parentDev: '1', parentIno: '2' })
  for (const n of [1, 2]) ledger.addCheckpoint(newCheckpoint(n, project), DETAILS)
  ledger.addCheckpoint(newCheckpoint(30, other), DETAILS)
  const found = (prefix: string) =>
    ledger.checkpoints
      .byPrefix({ project: project.id }, prefix, { limit: 2 })
      .map((found) => found.id)
  expect(found(id(1))).toEqual([id(1)])
  expect(found('bbbb').sort()).toEqual([id(1), id(2)])
  expect(found(id(30))).toEqual([])
  for (const pattern of ['%', 'bbb_', 'b%', '*', "'"]) expect(found(pattern)).toEqual([])
  ledger.close()
})

test('a name and a pin can be set and removed', () => {
  const { ledger, project } = opened()
  const checkpoint = newCheckpoint(1, project)
  ledger.addCheckpoint(checkpoint, DETAILS)
  ledger.checkpoints.setName(checkpoint.id, 'good')
  ledger.checkpoints.setPinned(checkpoint.id, true)
  expect(ledger.checkpoints.get(checkpoint.id)).toEqual({
    ...checkpoint,
    name: 'good',
    pinned: true,
  })
  ledger.checkpoints.setName(checkpoint.id, null)
  ledger.checkpoints.setPinned(checkpoint.id, false)
  expect(ledger.checkpoints.get(checkpoint.id)).toEqual(checkpoint)
  ledger.close()
})

test('two connections write at once and lose nothing', () => {
  const { home, ledger, project } = opened()
  const other = Ledger.open(home, { durability: 'process' })
  for (let n = 1; n <= 20; n++) {
    ;(n % 2 === 0 ? ledger : other).addCheckpoint(newCheckpoint(n, project), DETAILS)
  }
  expect(ledger.checkpoints.list({ project: project.id, limit: undefined })).toHaveLength(20)
  ledger.close()
  other.close()
})

test('an empty database gets the tables of the current version', () => {
  const { home, ledger } = opened()
  ledger.close()
  const database = openDatabase(join(home, 'ledger.db'), { timeoutMs: 0 })
  expect(database.get('PRAGMA file.user_version')).toEqual({ user_version: SCHEMA_VERSION })
  database.close()
})

const OTHER_VERSIONS = [
  ['newer', SCHEMA_VERSION + 1, 'STORE_NEWER'],
  ['pre-release', SCHEMA_VERSION - 1, 'STORE_UNUSABLE'],
] as const

test.each(
  ['delete', 'wal'].flatMap((mode) => OTHER_VERSIONS.map((other) => [mode, ...other] as const)),
)('I8: in mode %s, a %s ledger is refused and not touched', (mode, _, version, code) => {
  const home = newHome()
  const path = join(home, 'ledger.db')
  const database = openDatabase(path, { timeoutMs: 0 })
  database.exec(`PRAGMA file.journal_mode = ${mode}`)
  database.exec('CREATE TABLE file.other (what TEXT)')
  database.exec(`PRAGMA file.user_version = ${version}`)
  database.close()
  const before = readFileSync(path)
  expect(() => Ledger.open(home, { durability: 'process' })).toThrow(
    expect.objectContaining({ code }),
  )
  expect(readFileSync(path).equals(before)).toBe(true)
  expect(readdirSync(home)).toEqual(['ledger.db'])
})

test('a ledger that is not a database is reported as damaged', () => {
  const home = newHome()
  writeFileSync(
    join(home, 'ledger.db'),
    'not a database at all, and long enough to tell'.repeat(50),
  )
  expect(() => Ledger.open(home, { durability: 'process' })).toThrow(
    expect.objectContaining({ code: 'STORE_DAMAGED' }),
  )
})

test('recording a failure does not wait for a busy ledger: the busy ledger may be the failure', () => {
  const home = newHome()
  const ledger = Ledger.open(home, { durability: 'process' })
  const failure = { atMs: 1, operation: 'save', project: null, code: 'STORE_BUSY', message: '' }
  const other = openDatabase(join(home, 'ledger.db'), { timeoutMs: 0 })
  other.exec('BEGIN IMMEDIATE')
  const start = performance.now()
  expect(() => ledger.failures.add(failure)).toThrow('Other processes keep writing to the store')
  // The time that any other write waits.
  expect(performance.now() - start).toBeLessThan(8000)
  other.exec('ROLLBACK')
  other.close()
  ledger.failures.add(failure)
  expect(ledger.failures.list(10)).toEqual([failure])
  ledger.close()
})
