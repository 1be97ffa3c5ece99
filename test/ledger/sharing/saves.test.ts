// The log of a project: what another host can change here with it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SegmentContent, SharedRow } from '../../../src/model/index.js'
import { type Chain, encode, newChain, pull, ship } from './chain.js'
import { type Home, twoHomes } from './two-homes.js'

const LOG = { kind: 'project', id: 'bcdfghjklmnpqrstvw' } as const
const EMPTY: SegmentContent = {
  version: 1,
  isBase: false,
  nextNumber: 10,
  elements: [],
  nodes: [],
  states: [],
  rows: {},
  removed: {},
}

function save(id: string, others: Readonly<Record<string, string | number | null>> = {}) {
  return {
    id,
    kind: 'save',
    name: 'theirs',
    reason: null,
    created_at: 1,
    pinned: 0,
    tree: '0'.repeat(40),
    pack: 'pack',
    files: 1,
    insertions: 1,
    deletions: 0,
    file_count: 1,
    size_bytes: 1,
    skipped_counts: '{}',
    details: null,
    authors: null,
    named_by: 'user',
    ...others,
  } satisfies SharedRow
}

function add(chain: Chain, content: Partial<SegmentContent>): void {
  const { nextN: n, hash } = chain.position
  const whole = { ...EMPTY, ...content }
  const prev = whole.isBase ? null : hash
  const segment = { n, prev, hash: encode(whole, { n, prev }).hash, content: whole }
  chain.segments.push(segment)
  chain.position = { ...chain.position, nextN: n + 1, hash: segment.hash }
}

/** A project with a checkpoint of a session, and one that belongs to none. */
async function projectWithBoth({ store, path, ledger }: Home) {
  const folder = `${path}-project`
  mkdirSync(folder)
  writeFileSync(join(folder, 'f.txt'), 'one')
  const project = await store.project(folder)
  const plain = await project.save({ name: 'mine' })
  const session = await store.session('task', { project })
  writeFileSync(join(folder, 'f.txt'), 'two')
  const step = await session.save({ state: {}, files: true, name: 'step' })
  const [known] = ledger.projects()
  if (known === undefined) throw new Error('there is no project')
  return { project, id: known.project.id, ids: [plain.id, step.id] }
}

test('a log of a project takes and removes only its own checkpoints', async () => {
  await using homes = await twoHomes()
  const { project, id, ids } = await projectWithBoth(homes.b)
  const before = await project.list()
  const chain = newChain(LOG)
  add(chain, { isBase: true, rows: { saves: ids.map((each) => save(each)) } })
  expect(pull(homes.b.ledger, chain, id)).toBe('applied')
  add(chain, { removed: { saves: ids.map((each) => ({ id: each })) } })
  expect(pull(homes.b.ledger, chain, id)).toBe('applied')
  expect(homes.b.ledger.sharing.missingFiles(LOG)).toEqual([])
  expect(await project.list()).toEqual(before)
})

test('a checkpoint without its files is no checkpoint yet, and part of the next base', async () => {
  await using homes = await twoHomes()
  const { project, id } = await projectWithBoth(homes.b)
  const chain = newChain(LOG)
  const theirs = 'zzzzzzzzzzzzzzzzzz'
  add(chain, {
    isBase: true,
    elements: [[1, 0, '{"skippedPaths":[],"repositories":[]}']],
    rows: { saves: [save(theirs, { details: 1 })] },
  })
  expect(pull(homes.b.ledger, chain, id)).toBe('applied')
  expect((await project.list()).map(({ name }) => name)).toEqual(['step', 'mine'])
  expect(homes.b.ledger.sharing.missingFiles(LOG)).toMatchObject([{ checkpoint: theirs }])
  homes.b.ledger.sharing.restart(LOG, chain.position)
  expect(ship(homes.b.ledger, chain)).toBe(true)
  expect(chain.segments).toHaveLength(1)
  const { rows, elements } = chain.segments[0]?.content ?? EMPTY
  expect(rows).toEqual({ saves: [save(theirs, { details: elements[0]?.[0] ?? null })] })
})

test.each<readonly [string, SegmentContent['rows']]>([
  ['with rows of a session', { checkpoints: [] }],
  ['without files', { saves: [save(LOG.id, { tree: null })] }],
  ['without a size', { saves: [save(LOG.id, { size_bytes: null })] }],
  ['with another column', { saves: [save(LOG.id, { step: 1 })] }],
  ['with details that it does not bring', { saves: [save(LOG.id, { details: 3 })] }],
])('a segment %s is refused', async (_what, rows) => {
  await using homes = await twoHomes()
  const { id } = await projectWithBoth(homes.b)
  const chain = newChain(LOG)
  add(chain, { isBase: true, rows })
  expect(() => pull(homes.b.ledger, chain, id)).toThrow(
    expect.objectContaining({ code: 'BAD_INPUT' }),
  )
  expect(homes.b.ledger.sharing.get(LOG)).toBe(undefined)
})
