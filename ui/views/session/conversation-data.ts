// The items of one conversation, loaded in slices. A conversation may have 50 MB: only the slices used last are kept, and a few
// words about every item that was ever loaded, so that the list does not move when a slice is dropped.
import { type Signal, signal } from '@preact/signals'
import type { Input, Output } from '../../../src/ui/api.js'
import { call, RequestError } from '../../app/transport.js'

export type Item = Output<'items'>['items'][number]
export type Part = Item['parts'][number]
export type PartOf<Kind extends Part['kind']> = Extract<Part, { readonly kind: Kind }>

const SLICE = 50
const MAX_SLICES = 24

type Known = {
  readonly subagent: string | null
  /** `results`: only results, by the ids of their calls. */
  readonly shows: 'nothing' | 'something' | { readonly results: readonly string[] }
}
export type FoundResult = {
  readonly item: Item
  readonly part: PartOf<'result'>
  readonly at: number
}

type Point = Pick<Input<'items'>, 'session' | 'ref' | 'call' | 'agent'>

export class ConversationData {
  /** Changes when anything that is shown may have changed. */
  readonly version = signal(0)
  readonly error = signal<RequestError | undefined>(undefined)
  readonly hasSecrets: Signal<boolean>
  total: number
  reveal: boolean
  readonly #point: Point
  /** In the order of their last use. */
  readonly #slices = new Map<number, readonly Item[]>()
  readonly #loading = new Map<number, Promise<void>>()
  #known: (Known | undefined)[] = []
  readonly #calls = new Map<string, number>()
  readonly #results = new Map<string, number>()
  /** Opened cards and folds. They stay open while they are scrolled out of the view. */
  readonly #toggled = new Set<string>()
  /** Further pieces of texts that were cut. */
  readonly #pieces = new Map<string, { readonly text: string; readonly restLength: number }>()

  /** The subagents that are known, by the ids of their calls; null if only the call is known. */
  readonly #started = new Map<string, string | null>()
  readonly #subagents = new Map<string, ConversationData>()

  constructor(point: Point, total: number, options: { readonly parent?: ConversationData } = {}) {
    this.#point = point
    this.total = total
    this.hasSecrets = options.parent?.hasSecrets ?? signal(false)
    this.reveal = options.parent?.reveal ?? false
  }

  /** Whether it is the conversation of a subagent, whose length is known only with its items. */
  get isSubagent(): boolean {
    return this.#point.call !== undefined
  }

  hasSubagent(call: string): boolean {
    return this.#started.has(call)
  }

  /** The conversation of the subagent that a call started. It is kept while it is scrolled out of the view. */
  subagent(call: string): ConversationData {
    const agent = this.#started.get(call) ?? null
    const key = `${call} ${agent}`
    const known = this.#subagents.get(key)
    if (known !== undefined) return known
    const { session } = this.#point
    const point = { session, call, ...(agent === null ? {} : { agent }) }
    const data = new ConversationData(point, 0, { parent: this })
    this.#subagents.set(key, data)
    return data
  }

  /** Loads what a subagent has added, and its items up to this one. */
  async follow(to: number): Promise<void> {
    await this.#load(Math.floor(this.total / SLICE))
    await this.ensure(0, to)
  }

  item(index: number): Item | undefined {
    return this.#slices.get(Math.floor(index / SLICE))?.[index % SLICE]
  }

  /** Loads the items of the range that are not there. */
  async ensure(from: number, to: number): Promise<void> {
    const first = Math.max(0, Math.floor(from / SLICE))
    const last = Math.floor(Math.min(to, this.total - 1) / SLICE)
    const loads: Promise<void>[] = []
    for (let slice = first; slice <= last; slice += 1) {
      const known = this.#slices.get(slice)
      if (known === undefined) loads.push(this.#load(slice))
      else {
        this.#slices.delete(slice)
        this.#slices.set(slice, known)
      }
    }
    await Promise.all(loads)
  }

  #load(slice: number): Promise<void> {
    const running = this.#loading.get(slice)
    if (running !== undefined) return running
    const { reveal } = this
    const input = {
      ...this.#point,
      ...(reveal ? { reveal } : {}),
      from: slice * SLICE,
      limit: SLICE,
    }
    let isChanged = true
    const loading = call('items', input)
      .then(({ items, total }) => {
        if (reveal !== this.reveal) return
        if (this.isSubagent) {
          const isSame = this.#slices.get(slice)?.length === items.length && this.total === total
          isChanged = !isSame || this.error.peek() !== undefined
          this.total = total
        }
        this.#slices.set(slice, items)
        for (const item of items) this.#learn(item)
        for (const oldest of this.#slices.keys())
          if (this.#slices.size > MAX_SLICES && !this.isSubagent) this.#slices.delete(oldest)
        this.error.value = undefined
      })
      .catch((error: unknown) => {
        if (!(error instanceof RequestError)) throw error
        this.error.value = error
      })
      .finally(() => {
        this.#loading.delete(slice)
        if (isChanged) this.version.value += 1
      })
    this.#loading.set(slice, loading)
    return loading
  }

  #learn(item: Item): void {
    const results: string[] = []
    for (const part of item.parts) {
      if (part.kind === 'call') this.#calls.set(part.id, item.index)
      if (part.kind === 'result') {
        this.#results.set(part.id, item.index)
        results.push(part.id)
      }
      const text = part.kind === 'call' ? part.input : part.text
      if (text.masked > 0) this.hasSecrets.value = true
    }
    for (const { call: id, agent } of item.started ?? [])
      if (agent !== null || !this.#started.has(id)) this.#started.set(id, agent)
    const shows =
      item.parts.length === 0
        ? 'nothing'
        : results.length === item.parts.length
          ? { results }
          : 'something'
    this.#known[item.index] = { subagent: item.subagent, shows }
  }

  /** The item takes no space: it is empty, its results are in the cards of their calls, or its subagent is folded. */
  isHidden(index: number): boolean {
    const known = this.#known[index]
    if (known === undefined || this.startsRun(index)) return false
    const { subagent, shows } = known
    if (subagent !== null && !this.isToggled(`agent ${subagent}`)) return true
    if (typeof shows === 'string') return shows === 'nothing'
    return shows.results.every((id) => this.#calls.has(id))
  }

  /** The first of consecutive items of one subagent, as far as they are known. */
  startsRun(index: number): boolean {
    const subagent = this.#known[index]?.subagent ?? null
    return subagent !== null && this.#previousOf(index)?.subagent !== subagent
  }

  #previousOf(index: number): Known | undefined {
    let at = index - 1
    while (this.#known[at]?.shows === 'nothing' && this.#known[at]?.subagent === null) at -= 1
    return this.#known[at]
  }

  /** How many items of the run that begins at the index are known. */
  runLength(index: number): number {
    const subagent = this.#known[index]?.subagent
    let length = 0
    for (let at = index; at < this.total; at += 1) {
      const known = this.#known[at]
      if (known?.subagent === subagent && known?.shows !== 'nothing') length += 1
      else if (known?.shows !== 'nothing') break
    }
    return length
  }

  hasCall(id: string): boolean {
    return this.#calls.has(id)
  }

  /** The result of a call; `loading` if it is known but was dropped. */
  resultOf(id: string): FoundResult | 'loading' | undefined {
    const index = this.#results.get(id)
    if (index === undefined) return undefined
    const item = this.item(index)
    if (item === undefined) return 'loading'
    const at = item.parts.findIndex((part) => part.kind === 'result' && part.id === id)
    const part = item.parts[at]
    return part?.kind === 'result' ? { item, part, at } : undefined
  }

  indexOfResult(id: string): number | undefined {
    return this.#results.get(id)
  }

  isToggled(key: string): boolean {
    return this.#toggled.has(key)
  }

  toggle(key: string): void {
    if (!this.#toggled.delete(key)) this.#toggled.add(key)
    this.version.value += 1
  }

  piecesOf(
    index: number,
    part: number,
  ): { readonly text: string; readonly restLength: number } | undefined {
    return this.#pieces.get(`${index} ${part}`)
  }

  /** Loads the next 64 kB of a text that was cut. */
  async more(index: number, part: number, offset: number): Promise<void> {
    const { reveal } = this
    const before = this.piecesOf(index, part)?.text ?? ''
    const point = { ...this.#point, ...(reveal ? { reveal } : {}) }
    const { text, restLength } = await call('more', { ...point, index, part, offset })
    // The user has hidden the secrets meanwhile.
    if (reveal !== this.reveal) return
    this.#pieces.set(`${index} ${part}`, { text: before + text, restLength })
    this.version.value += 1
  }

  setReveal(reveal: boolean): void {
    this.reveal = reveal
    this.#slices.clear()
    this.#loading.clear()
    this.#pieces.clear()
    for (const one of this.#subagents.values()) one.setReveal(reveal)
    this.version.value += 1
  }

  /** The conversation has grown; its last slice was perhaps not full. */
  async grow(total: number): Promise<void> {
    const isPartial = this.total % SLICE !== 0
    const last = Math.floor(this.total / SLICE)
    this.total = total
    // An answer that is under way may lack the new items.
    await this.#loading.get(last)
    if (isPartial && this.#slices.has(last)) await this.#load(last)
    await this.ensure(total - SLICE, total)
    this.version.value += 1
  }
}
