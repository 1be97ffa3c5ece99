// Segments that another host could have made up: each is refused with BAD_INPUT, and changes nothing.
import { expect, test } from 'vitest'
import type { SegmentToApply } from '../../../src/ledger/index.js'
import type { LogNumber, SegmentContent, SharedRow, SharedTable } from '../../../src/model/index.js'
import { type Chain, newChain, pull, pullAll, REMOTE, sessionLog, ship } from './chain.js'
import { sessionPicture } from './pictures.js'
import { twoHomes } from './two-homes.js'

const LOG = sessionLog('task')
const ID = 'bcdfghjklmnpqrstvw'

/** A base with a list, a large object, calls and partial results, and a segment that adds to it. */
async function sharedSession() {
  const homes = await twoHomes()
  const session = await homes.a.store.session<Record<string, unknown>>('task', {
    metadata: { m: 1 },
  })
  const messages = Array.from({ length: 200 }, (_, n) => ({ n }))
  await session.save({ state: { messages, text: 'long '.repeat(30) }, operationId: 'operation' })
  await session.tool({ id: 'call', name: 'run', args: {} }, () => 'done')
  await new Promise<void>((resolve) => {
    void session.tool({ id: 'hanging', name: 'run', args: {} }, async (call) => {
      call.partial('half')
      resolve()
      await new Promise(() => undefined)
    })
  })
  await session.append('messages', [{ n: 'appended' }])
  homes.a.ledger.sharing.share(LOG, { remote: REMOTE })
  const chain = newChain(LOG)
  ship(homes.a.ledger, chain)
  return { homes, session, chain, [Symbol.asyncDispose]: () => homes[Symbol.asyncDispose]() }
}

type Content = {
  -readonly [Key in keyof SegmentContent]: SegmentContent[Key] extends readonly (infer Item)[]
    ? Item[]
    : SegmentContent[Key]
}
type Rows = Record<SharedTable, Record<string, unknown>[]>

const rowsOf = (content: Content) => content.rows as unknown as Rows
const edit =
  (table: SharedTable, column: string, value: unknown, at = 0) =>
  (content: Content) => {
    const row = rowsOf(content)[table][at]
    if (row !== undefined) row[column] = value
  }
const numberOf = (list: readonly (readonly [LogNumber, ...unknown[]])[], at = 0) =>
  list[at]?.[0] ?? 0
const rootOf = (content: Content) => content.states[0]?.[1] as Record<string, unknown>

const HOSTILE: Readonly<Record<string, (content: Content) => void>> = {
  'of a newer version': (content) => Object.assign(content, { version: 2 }),
  'without a base mark': (content) => Object.assign(content, { isBase: 'yes' }),
  'without a next number': (content) => Object.assign(content, { nextNumber: 0 }),
  'with a next number that numbers exceed': (content) => Object.assign(content, { nextNumber: 2 }),
  'without lists': (content) => Object.assign(content, { elements: {} }),
  'whose rows are a list': (content) => Object.assign(content, { rows: [] }),
  'with a table that sessions do not have': (content) =>
    Object.assign(content.rows, { graph_writes: [] }),
  'with an unknown table': (content) => Object.assign(content.rows, { keys: [{ id: 'x' }] }),
  'with a table of the prototype': (content) => Object.assign(content.rows, { toString: [] }),
  'that is a base and removes rows': (content) =>
    Object.assign(content, { removed: { checkpoints: [{ id: ID }] } }),

  'with an element that is not JSON': (content) => content.elements.push([900, 0, '1,2']),
  'with an element that closes the list around it': (content) =>
    content.elements.push([900, 0, '1],[2']),
  'with a sealed element': (content) => content.elements.push([900, 2, '"x"']),
  'with an element that has half a character': (content) =>
    content.elements.push([900, 0, '"\ud800"']),
  'with two elements of one number': ({ elements }) => elements.push([numberOf(elements), 0, '1']),
  'with a number that is not whole': (content) => content.elements.push([1.5, 0, '1']),
  'with a number beyond the exact ones': (content) => {
    content.elements.push([2 ** 52, 0, '1'])
    Object.assign(content, { nextNumber: 2 ** 53 })
  },

  'with a node without children': (content) => content.nodes.push([900, []]),
  'with a node of too many children': ({ nodes, elements }) =>
    nodes.push([900, Array.from({ length: 129 }, () => numberOf(elements))]),
  'with a node that refers to itself': (content) => content.nodes.push([900, [900]]),
  'with a node that refers to a later one': ({ nodes, elements }) => {
    nodes.push([900, [901]])
    nodes.push([901, [numberOf(elements)]])
  },
  'with a node that refers to an unknown number': (content) => content.nodes.push([900, [899]]),
  'with a node that refers to a state': ({ nodes, states }) =>
    nodes.push([900, [numberOf(states)]]),
  'with a node of mixed heights': ({ nodes, elements }) =>
    nodes.push([900, [numberOf(elements), numberOf(nodes)]]),
  'with a few nodes that describe a list beyond all memory': (content) => {
    let child = numberOf(content.elements)
    for (let height = 0; height < 12; height += 1) {
      content.nodes.push([900 + height, Array.from({ length: 128 }, () => child)])
      child = 900 + height
    }
  },
  'with a tower of nodes': (content) => {
    let child = numberOf(content.elements)
    for (let height = 0; height < 60; height += 1) {
      content.nodes.push([900 + height, [child]])
      child = 900 + height
    }
  },

  'with a state that refers to an unknown element': (content) =>
    Object.assign(rootOf(content), { text: ['element', 899] }),
  'with a state that takes a node for an element': (content) =>
    Object.assign(rootOf(content), { text: ['element', numberOf(content.nodes)] }),
  'with a list of another length': (content) => {
    const [, , height, node] = rootOf(content)['messages'] as unknown[]
    Object.assign(rootOf(content), { messages: ['list', 7, height, node] })
  },
  'with a list of another height': (content) => {
    const [, length, height, node] = rootOf(content)['messages'] as unknown[]
    Object.assign(rootOf(content), { messages: ['list', length, Number(height) + 1, node] })
  },
  'with a part of an unknown kind': (content) =>
    Object.assign(rootOf(content), { text: ['file', 1] }),
  'with a state that is divided too deeply': (content) =>
    Object.assign(rootOf(content), { deep: JSON.parse('{"a":'.repeat(20) + '1' + '}'.repeat(20)) }),
  'with a state that is not there': edit('checkpoints', 'state', 899),
  'with a state that is an element': (content) =>
    edit('checkpoints', 'state', numberOf(content.elements))(content),

  'with a checkpoint of another column': edit('checkpoints', 'project', 'x'),
  'with a checkpoint without a column': (content) =>
    delete rowsOf(content).checkpoints[0]?.['turn'],
  'with a checkpoint whose id is a path': edit('checkpoints', 'id', '../../../etc/passwd'),
  'with a checkpoint of an unknown kind': edit('checkpoints', 'kind', 'gift'),
  'with a checkpoint whose step is negative': edit('checkpoints', 'step', -1),
  'with two checkpoints of one step': edit('checkpoints', 'step', 1),
  'with two checkpoints of one operation': edit('checkpoints', 'operation_id', 'operation', 1),
  'with a checkpoint whose metadata is not JSON': edit('checkpoints', 'metadata', '{'),
  'with a checkpoint whose name has NUL': edit('checkpoints', 'name', 'a\0b'),
  'with a very long name': edit('checkpoints', 'name', 'a'.repeat(2000)),
  'with a checkpoint of another status': edit('checkpoints', 'status', 'asleep'),
  'with authors that are no names': edit('checkpoints', 'authors', '[1]'),
  'with a tree and no figures': edit('checkpoints', 'tree', 'a'.repeat(40)),
  'with figures and no tree': edit('checkpoints', 'files', 3),
  'with a pack and no tree': edit('checkpoints', 'pack', 'pack'),
  'with files whose details are no details': (content) => {
    content.elements.push([
      900,
      0,
      '{"skippedPaths":[{"path":"../up","reason":"ignored","sizeBytes":1}],"repositories":[]}',
    ])
    Object.assign(rowsOf(content).checkpoints[0] ?? {}, {
      tree: 'a'.repeat(40),
      files: 0,
      insertions: 0,
      deletions: 0,
      file_count: 1,
      size_bytes: 1,
      skipped_counts: '{}',
      details: 900,
    })
  },

  'without its session': (content) => delete (content.rows as Partial<Rows>).session,
  'with a head that is not there': edit('session', 'head', ID),
  'with a step that would be used twice': edit('session', 'next_step', 1),
  'with a session of an unknown status': edit('session', 'status', 'asleep'),
  'with a turn that is no number': edit('session', 'turn', '1; DROP TABLE sessions'),

  'with two calls of one id': edit('tool_calls', 'id', 'hanging'),
  'with a call that has the number of an element': (content) =>
    edit('tool_calls', 'number', numberOf(content.elements))(content),
  'with a call of an unknown status': edit('tool_calls', 'status', 'done'),
  'with a call whose outcome is not JSON': edit('tool_calls', 'outcome', 'undefined'),
  'with a partial result of no call': edit('partials', 'call', 899),
  'with a partial result of an element': (content) =>
    edit('partials', 'call', numberOf(content.elements))(content),
}

function tampered({ segments }: Chain, change: (content: Content) => void): SegmentToApply[] {
  return segments.map((segment) => {
    const content = structuredClone(segment.content) as Content
    content.nextNumber += 1000
    change(content)
    return { ...segment, content }
  })
}

test('a base', async () => {
  await using shared = await sharedSession()
  const { homes, chain } = shared
  const { ledger } = homes.b
  const results = Object.entries(HOSTILE).map(([name, change]) => {
    try {
      pullAll(ledger, { ...chain, segments: tampered(chain, change) })
      return `${name}: it was taken over`
    } catch (error) {
      return (error as { code?: string }).code === 'BAD_INPUT' ? name : `${name}: ${String(error)}`
    }
  })
  expect(results).toEqual(Object.keys(HOSTILE))
  expect(ledger.sessions.byId('task')).toBe(undefined)
  expect(ledger.sharing.list()).toEqual([])
  // The same base, as it is, is sound.
  expect(pullAll(ledger, { ...chain, segments: tampered(chain, () => undefined) })).toBe('applied')
})

test('a later segment', async () => {
  await using shared = await sharedSession()
  const { homes, chain, session } = shared
  expect(pull(homes.b.ledger, chain)).toBe('applied')
  const before = sessionPicture(homes.b.ledger, 'task')
  await session.save({
    state: {
      messages: [1],
      text: 'long '.repeat(31),
      more: Array.from({ length: 200 }, (_, n) => n),
    },
  })
  ship(homes.a.ledger, chain)
  const last = { ...chain, segments: chain.segments.slice(-1) }
  const changes: Readonly<Record<string, (content: Content) => void>> = {
    'that uses a number again': (content) => content.elements.push([1, 0, '1']),
    'that removes the head': (content) => {
      const [row] = rowsOf(content).checkpoints
      Object.assign(content.rows, { checkpoints: [] })
      Object.assign(content, { removed: { checkpoints: [{ id: row?.['id'] }] } })
    },
    'that removes a row by other columns': (content) =>
      Object.assign(content, { removed: { checkpoints: [{ id: ID, session: 1 }] } }),
  }
  for (const change of Object.values(changes))
    expect(() => pullAll(homes.b.ledger, { ...last, segments: tampered(last, change) })).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT' }),
    )
  // A number that this host does not know may be one that it has forgotten: the whole log decides.
  const unknown = edit('checkpoints', 'state', 899)
  expect(pullAll(homes.b.ledger, { ...last, segments: tampered(last, unknown) })).toBe('incomplete')
  expect(sessionPicture(homes.b.ledger, 'task')).toEqual(before)
  expect(pullAll(homes.b.ledger, last)).toBe('applied')
})

test('a log cannot take or remove a checkpoint of another session', async () => {
  await using shared = await sharedSession()
  const { homes, chain } = shared
  const mine = await homes.b.store.session('mine')
  const { id } = await mine.save({ state: { mine: true } })
  const picture = sessionPicture(homes.b.ledger, 'mine')
  const steal = (content: Content) => {
    const [row] = rowsOf(content).checkpoints
    rowsOf(content).checkpoints.push({ ...row, id, step: 9, operation_id: null })
    edit('session', 'next_step', 10)(content)
  }
  expect(() => pullAll(homes.b.ledger, { ...chain, segments: tampered(chain, steal) })).toThrow(
    expect.objectContaining({ code: 'BAD_INPUT' }),
  )
  expect(pull(homes.b.ledger, chain)).toBe('applied')
  const removal: SegmentToApply = {
    n: chain.position.nextN,
    prev: chain.position.hash,
    hash: 'removal',
    content: {
      version: 1,
      isBase: false,
      nextNumber: 5000,
      elements: [],
      nodes: [],
      states: [],
      rows: {},
      removed: { checkpoints: [{ id } as SharedRow] },
    },
  }
  expect(pullAll(homes.b.ledger, { ...chain, segments: [removal] })).toBe('applied')
  expect(sessionPicture(homes.b.ledger, 'mine')).toEqual(picture)
})

test('random damage is refused or gives a whole session, and never a fault of ours', async () => {
  await using shared = await sharedSession()
  const { homes, chain } = shared
  const [base] = chain.segments
  const text = JSON.stringify(base?.content)
  const outcomes = new Set<string>()
  for (let n = 0; n < 400; n += 1) {
    // One character is replaced, at places spread over the text.
    const at = (n * 7919) % text.length
    const damaged = `${text.slice(0, at)}${'0"],[}{x7'.charAt(n % 9)}${text.slice(at + 1)}`
    let content: SegmentContent
    try {
      content = JSON.parse(damaged) as SegmentContent
    } catch {
      continue
    }
    const segments = base === undefined ? [] : [{ ...base, content }]
    try {
      outcomes.add(pullAll(homes.b.ledger, { ...chain, segments }))
      expect(homes.b.ledger.rowChecks.stateFaults({ quick: false })).toEqual([])
    } catch (error) {
      outcomes.add(String((error as { code?: string }).code ?? error))
    }
  }
  expect([...outcomes].sort()).toEqual(['BAD_INPUT', 'applied'])
  expect(homes.b.ledger.rowChecks.dangling()).toEqual([])
})
