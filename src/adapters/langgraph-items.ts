// The items of a list as they were serialized last, one after the other in memory: to walk through thousands of them
// at every put costs what it takes to look at the items, not what it takes to find what is known of them.
import { type Shape, type Sight, SightReader } from './langgraph-sight.js'

/** The JSON text of a value, and what the value was made of then. */
export type Known = {
  readonly value: unknown
  readonly text: string
  /** Undefined: it has to be serialized each time. */
  readonly sight: Sight | undefined
}

/** If more than this part of a list is known apart from it, the list is put together anew. */
const MAX_APART = 1 / 8

export class Items {
  #texts: string[] = []
  /** Where the sight of each item begins. */
  #starts: number[] = []
  /** Undefined for an item that is known apart from this list, or not at all. */
  #shapes: (Shape | undefined)[] = []
  #slots: unknown[] = []
  #changes = 0

  get length(): number {
    return this.#texts.length
  }

  /** Differs after every change. */
  get version(): number {
    return this.#changes
  }

  /** For each value its text, if it is at its place what it was; else undefined. */
  textsOf(values: readonly unknown[]): (string | undefined)[] {
    const texts: (string | undefined)[] = this.#texts.slice(0, values.length)
    const reader = new SightReader(this.#slots)
    for (let place = 0; place < texts.length; place += 1) {
      const shape = this.#shapes[place]
      reader.at = this.#starts[place] ?? 0
      if (shape === undefined || !reader.isAsSeen(values[place], shape)) texts[place] = undefined
    }
    while (texts.length < values.length) texts.push(undefined)
    return texts
  }

  /** `known` has the items, by place, that `textsOf` did not find. */
  update(length: number, known: ReadonlyMap<number, Known>): void {
    this.#changes += 1
    let apart = 0
    for (const [place, { sight }] of known)
      if (place < this.length && sight !== undefined) apart += 1
    if (apart > length * MAX_APART) {
      this.#remake(length, known)
      return
    }
    this.#truncate(length)
    for (const [place, item] of known) {
      if (place >= this.length) {
        this.#add(item)
        continue
      }
      this.#texts[place] = item.text
      this.#shapes[place] = undefined
    }
  }

  #add({ text, sight }: Known): void {
    this.#texts.push(text)
    this.#starts.push(this.#slots.length)
    this.#shapes.push(sight?.shape)
    for (const slot of sight?.slots ?? []) this.#slots.push(slot)
  }

  #truncate(length: number): void {
    if (length >= this.length) return
    this.#slots.length = this.#starts[length] ?? this.#slots.length
    this.#texts.length = length
    this.#starts.length = length
    this.#shapes.length = length
  }

  #remake(length: number, known: ReadonlyMap<number, Known>): void {
    const before = {
      texts: this.#texts,
      starts: this.#starts,
      shapes: this.#shapes,
      slots: this.#slots,
    }
    this.#texts = []
    this.#starts = []
    this.#shapes = []
    this.#slots = []
    for (let place = 0; place < length; place += 1) {
      const start = before.starts[place] ?? 0
      const slots = before.slots.slice(start, before.starts[place + 1])
      const shape = before.shapes[place]
      const text = before.texts[place] ?? ''
      const sight = shape === undefined ? undefined : { slots, shape }
      this.#add(known.get(place) ?? { value: slots[0], text, sight })
    }
  }
}
