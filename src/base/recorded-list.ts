// The values of a list, each with a payload (its stored form) and its shape record. All records are one flat array:
// comparing thousands of values at every save then reads memory in order, without a lookup per value.
import { isObject, isSameShape, isUnchanged, type ShapeRecord } from './shape-record.js'

export type RecordedItem<Payload> = {
  readonly value: unknown
  readonly payload: Payload
  /** Undefined for a primitive, and for an object that must be serialized to be compared. */
  readonly record: ShapeRecord | undefined
}

export class RecordedList<Payload> {
  #values: unknown[] = []
  #payloads: Payload[] = []
  /** Where the record of each value ends in `#words`. */
  #ends: number[] = []
  #words: unknown[] = []
  #version = 0

  get length(): number {
    return this.#values.length
  }

  /** Different after every change. */
  get version(): number {
    return this.#version
  }

  get values(): readonly unknown[] {
    return this.#values
  }

  get payloads(): readonly Payload[] {
    return this.#payloads
  }

  /** This very value is at the index, and everything in it is as recorded. */
  isUnchangedAt(index: number, value: unknown): boolean {
    if (index >= this.#values.length || !Object.is(this.#values[index], value)) return false
    if (!isObject(value)) return true
    const [start, end] = [this.#startOf(index), this.#startOf(index + 1)]
    return start !== end && isUnchanged(this.#words, start, end)
  }

  /** This very value is at the index, with this very record. */
  hasRecordAt(index: number, value: unknown, record: ShapeRecord | undefined): boolean {
    if (record === undefined || this.#values[index] !== value) return false
    const start = this.#startOf(index)
    return (
      this.#startOf(index + 1) - start === record.length &&
      record.every((word, place) => Object.is(this.#words[start + place], word))
    )
  }

  /** An equal value was recorded at the index, made of the same or of other objects. */
  isEqualAt(index: number, record: ShapeRecord): boolean {
    return isSameShape(this.#recordAt(index), record)
  }

  itemAt(index: number): RecordedItem<Payload> | undefined {
    const payload = this.#payloads[index]
    if (payload === undefined) return undefined
    return { value: this.#values[index], payload, record: this.#recordAt(index) }
  }

  /** Replaces the values from `start` to before `end`. */
  splice(start: number, end: number, items: readonly RecordedItem<Payload>[]): void {
    this.#version += 1
    const tail = this.#values.slice(end).flatMap((_, place) => this.itemAt(end + place) ?? [])
    this.#words.length = this.#startOf(start)
    this.#values.length = start
    this.#payloads.length = start
    this.#ends.length = start
    for (const item of items) this.#push(item)
    for (const item of tail) this.#push(item)
  }

  #push({ value, payload, record = [] }: RecordedItem<Payload>): void {
    for (const word of record) this.#words.push(word)
    this.#values.push(value)
    this.#payloads.push(payload)
    this.#ends.push(this.#words.length)
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : (this.#ends[index - 1] ?? this.#words.length)
  }

  #recordAt(index: number): ShapeRecord {
    return this.#words.slice(this.#startOf(index), this.#startOf(index + 1))
  }
}
