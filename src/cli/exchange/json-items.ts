// The items of a JSON list, one at a time: an exported session may be larger than the memory. What is wrong with a text is
// found by parsing it as a whole, which happens only then.
import { parseExactJson, SavestateError } from '../../internal.js'
import { type GivenBytes, textOf, textsOf } from '../runtime/read-text-argument.js'
import { parseJsonText } from '../runtime/parse-json-argument.js'

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
/** All that matters outside of a string, and in one. */
const MARKS = /["[\]{},]/g
const IN_STRING = /["\\]/g

/** Cuts the text of a list at its commas. Whether an item is JSON shows when it is parsed. */
class ListSplitter {
  /** Lists and objects that are open: none before the list begins and after it has ended. */
  #depth = 0
  #isInString = false
  /** The character after a backslash is at the start of the next piece. */
  #isEscaped = false
  #hasEnded = false
  #count = 0
  /** The start of an item that goes on in the next piece. */
  #begun: string[] = []

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
        const item = [...this.#begun, text.slice(start, found.index)].join('')
        this.#begun = []
        start = at
        // An empty list has no item.
        if (mark === ']' && this.#count === 0 && BLANK.test(item)) continue
        this.#count += 1
        items.push(item)
      }
    }
    this.#begun.push(text.slice(start))
    return items
  }

  /** Throws SyntaxError if something is missing, or came after the end. */
  end(): void {
    if (!this.#hasEnded || !BLANK.test(this.#begun.join('')))
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
    if (!isFirst || !BLANK.test([...this.#begun, before].join('')))
      throw new SyntaxError('not a list')
    this.#begun = []
  }
}
