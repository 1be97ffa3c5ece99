// Random operations on a session, through the SDK, as an agent would call them.
import fc from 'fast-check'
import type { Session } from '../../../src/index.js'
import { parseCheckpointId } from '../../../src/model/index.js'
import type { Home } from './two-homes.js'

type State = Record<string, unknown>

/** The random choices of an operation; each number is taken modulo the number of alternatives. */
export type Operation = {
  readonly kind: (typeof KINDS)[number]
  readonly n: number
  readonly m: number
}

const KINDS = [
  'save',
  'save',
  'save-part',
  'append',
  'append',
  'append',
  'tool',
  'tool',
  'failing-tool',
  'hanging-tool',
  'hanging-tool',
  'resolve',
  'rewind',
  'undo-rewind',
  'turn',
  'status',
  'name',
  'pin',
  'prune',
  'import',
  'collect',
] as const

export const operations: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), n: fc.nat(1000), m: fc.nat(1000) }),
  { minLength: 12, maxLength: 40, size: 'max' },
)

export class RandomSession {
  readonly home: Home
  readonly session: Session<State>
  #count = 0
  #state: State = { messages: [], step: 0 }
  readonly #hanging: string[] = []

  constructor(home: Home, session: Session<State>) {
    this.home = home
    this.session = session
  }

  async do({ kind, n, m }: Operation): Promise<void> {
    const { session } = this
    this.#count += 1
    const id = `call ${this.#count}`
    switch (kind) {
      case 'save':
        this.#state = { ...this.#state, ...this.#change(n, m) }
        await session.save({
          state: this.#state,
          ...(m % 3 === 0 && { metadata: { at: new Date(n), n } }),
          ...(m % 4 === 0 && { operationId: `operation ${n % 5}` }),
          ...(m % 5 === 0 && { name: `name ${n % 3}`, reason: `because of ${n}` }),
          ...(m % 7 === 0 && { schemaVersion: n, toolCall: id }),
        })
        return
      case 'save-part':
        await session.save({ reason: 'no other state' })
        return
      case 'append':
        await session.append(`list ${n % 2}`, makeItems(n, (m % 40) + 1))
        this.#state = (await session.stateAt()) ?? {}
        return
      case 'tool':
        await session.tool({ id, name: 'run', args: { n } }, (call) => {
          call.partial({ n })
          return { at: new Date(n), m }
        })
        return
      case 'failing-tool':
        await session
          .tool({ id: `call ${n % 4}`, name: 'fail', args: [n] }, () => {
            throw new RangeError(`failed ${n}`)
          })
          .catch(() => undefined)
        return
      case 'hanging-tool':
        await this.#hang(id, n % 3)
        return
      case 'resolve': {
        const hanging = this.#hanging.pop()
        if (hanging === undefined) return
        const as = (['confirmed', 'retry', 'skipped'] as const)[n % 3] ?? 'retry'
        // A rewind may have reverted it.
        await session.resolveToolCall(hanging, { as }).catch(() => undefined)
        return
      }
      case 'rewind':
      case 'undo-rewind':
        return this.#rewind(kind, n)
      case 'turn':
        await session.newTurn()
        return
      case 'status':
        if (n % 3 === 0) await session.complete()
        else if (n % 3 === 1) await session.fail(`failure ${m}`)
        else await session.halt('stopped')
        return
      case 'name':
      case 'pin': {
        const list = await session.list()
        const chosen = list[n % Math.max(1, list.length)]
        if (chosen === undefined) return
        const checkpoint = parseCheckpointId(chosen.id)
        const { checkpoints, nameOwners } = this.home.ledger
        if (kind === 'pin') checkpoints.setPinned(checkpoint, m % 2 === 0)
        else checkpoints.setName(checkpoint, m % 3 === 0 ? null : `renamed ${m}`)
        if (kind === 'name' && m % 2 === 0) nameOwners.record(checkpoint, 'user')
        return
      }
      case 'prune':
        await session.prune({ keepLast: (n % 3) + 1 })
        return
      case 'import':
        await session.import([
          {
            id: `import ${this.#count}`,
            name: null,
            timestamp: new Date(1000 * n).toISOString(),
            data: { imported: n, messages: makeItems(n, m % 20) },
            metadata: { m },
          },
        ])
        this.#state = (await session.stateAt()) ?? {}
        return
      case 'collect':
        await this.home.ledger.vacuum.collect(async () => undefined)
    }
  }

  #change(n: number, m: number): State {
    const key = `key ${n % 6}`
    switch (m % 6) {
      case 0:
        return { [key]: makeItems(n, m % 150) }
      case 1:
        return {
          [key]: Object.fromEntries(makeItems(n, 60).map((item, at) => [`k${at + n}`, item])),
        }
      case 2:
        return { [key]: 'a longer text that is no small primitive, '.repeat(3) + String(n) }
      case 3:
        return { [key]: new Map([[n, new Set([m])]]), __proto: n }
      case 4:
        return { [key]: undefined }
      default:
        return { step: n, [key]: { inner: { list: makeItems(m, 20), n } } }
    }
  }

  /** The run never ends, as if the process had died. */
  async #hang(id: string, partials: number): Promise<void> {
    this.#hanging.push(id)
    await new Promise<void>((resolve, reject) => {
      this.session
        .tool({ id, name: 'hang', args: {} }, async (call) => {
          for (let index = 0; index < partials; index += 1) call.partial({ index })
          resolve()
          await new Promise(() => undefined)
        })
        .catch(reject)
    })
  }

  async #rewind(kind: 'rewind' | 'undo-rewind', n: number): Promise<void> {
    const list = await this.session.list()
    const to =
      kind === 'rewind'
        ? list[n % Math.max(1, list.length)]
        : list[list.findIndex(({ kind: made }) => made === 'rewind') + 1]
    if (to === undefined || !to.hasState) return
    await this.session.rewind(to.id, { restore: 'state' })
    this.#state = (await this.session.stateAt()) ?? {}
  }
}

function makeItems(n: number, length: number): unknown[] {
  return Array.from({ length }, (_, at) => ({
    role: 'user',
    text: `item ${(n * 31 + at) % 97}`,
    n: at % 7,
  }))
}
