// Reads the items of a JSON list one at a time, because an exported session may be larger than the memory. Only to find the
// position of a fault is the text parsed as a whole.
import { parseExactJson, SavestateError } from '../../internal.js'
import { type GivenBytes, parseJsonText, textOf, textsOf } from '../runtime/read-text-argument.js'

/** Throws BAD_INPUT, with line and column if it is not JSON. */
export async function* jsonItems(given: GivenBytes): AsyncGenerator<unknown> {
  const splitter = new ListSplitter()
  try {
    for await (const text of textsOf(given)) yield* splitter.split(text).map(parseExactJson)
    splitter.end()
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw await faultIn(given, cause)
  }
}

async function faultIn(given: GivenBytes, cause: SyntaxError): Promise<unknown> {
  const whole = parseJsonText(await textOf(given))
  if (Array.isArray(whole)) return cause
  return new SavestateError('BAD_INPUT', `${given.source} does not contain a list of checkpoints`, {
    hint: 'Expected the output of `savestate export`: [{ "id", "name", "timestamp", "data", "metadata" }].',
  })
}

const BLANK = /^[ \t\n\r]*$/
/** The relevant characters outside and inside a string. */
const MARKS = /["[\]{},]/g
const IN_STRING = /["\\]/g

/** Splits the text of a list at its commas. The caller parses the items. */
class ListSplitter {
  /** The number of open lists and objects. */
  #depth = 0
  #isInString = false
  /** The last piece ended with a backslash. */
  #isEscaped = false
  #hasEnded = false
  #count = 0
  /** The start of an item that continues in the next piece. */
  #partial: string[] = []

  /** The items that end in this piece. Throws SyntaxError. */
  split(text: string): string[] {
    const items: string[] = []
    let start = 0
    let at = this.#isEscaped ? 1 : 0
    if (text !== '') this.#isEscaped = false
    for (;;) {
      const pattern = this.#isInString ? IN_STRING : MARKS
      pattern.lastIndex = at
      const found = pattern.exec(text)
      if (found === null) break
      const [mark] = found
      at = found.index + 1
      if (mark === '\\') {
        this.#isEscaped = at === text.length
        at += 1
      } else if (mark === '"') this.#isInString = !this.#isInString
      else if (mark === '[' || mark === '{') {
        if (this.#depth === 0) {
          this.#begin(text.slice(start, found.index), mark)
          start = at
        }
        this.#depth += 1
      } else if (this.#isEndOfItem(mark)) {
        const item = [...this.#partial, text.slice(start, found.index)].join('')
        this.#partial = []
        start = at
        // An empty list has no item.
        if (mark === ']' && this.#count === 0 && BLANK.test(item)) continue
        this.#count += 1
        items.push(item)
      }
    }
    this.#partial.push(text.slice(start))
    return items
  }

  /** Throws SyntaxError if the list is incomplete, or text follows it. */
  end(): void {
    if (!this.#hasEnded || !BLANK.test(this.#partial.join('')))
      throw new SyntaxError('not one whole list')
  }

  #isEndOfItem(mark: string): boolean {
    if (mark === ',') return this.#depth <= 1
    this.#depth -= 1
    if (this.#depth > 0) return false
    if (this.#depth < 0 || mark !== ']') throw new SyntaxError('not the end of the list')
    this.#hasEnded = true
    return true
  }

  #begin(before: string, mark: string): void {
    const isFirst = !this.#hasEnded && mark === '['
    if (!isFirst || !BLANK.test([...this.#partial, before].join('')))
      throw new SyntaxError('not a list')
    this.#partial = []
  }
}
