// A line of shell, taken apart far enough to see which programs it starts with which words. It is no shell: what is
// made up while the line runs (variables, files that are sourced) is not seen. Texts that are only printed or written
// to a file are not taken for commands.

/** More than this no one types; what is behind it is not looked at. */
const MAX_CHARS = 50_000
const MAX_DEPTH = 4

/** Every simple command of the text, as words without their quotes; also those in `$(…)`, `sh -c '…'` and the like. */
export function commandsIn(text: string): readonly (readonly string[])[] {
  return commandsAt(text.slice(0, MAX_CHARS), 0)
}

function commandsAt(text: string, depth: number): readonly (readonly string[])[] {
  if (depth > MAX_DEPTH) return []
  const found = new Reader(text).read()
  return found.flatMap((one) => {
    const inner = [...one.nested, ...textsRunBy(one)]
    return [one.words, ...inner.flatMap((nested) => commandsAt(nested, depth + 1))]
  })
}

type Simple = {
  readonly words: readonly string[]
  /** Texts within its words that the shell runs. */
  readonly nested: readonly string[]
  /** Given on its stdin by `<<`. */
  readonly given: readonly string[]
}

const SHELL = /(?:^|\/)(?:ba|da|z|k|fi)?sh$/

/** What a shell or `eval` is given to run. */
function textsRunBy({ words, given }: Simple): readonly string[] {
  const at = words.findIndex((word) => SHELL.test(word) || word === 'eval')
  if (at === -1) return []
  if (words[at] === 'eval') return [words.slice(at + 1).join(' ')]
  const flag = words.findIndex((word, place) => place > at && /^-\w*c$/.test(word))
  return [...(flag === -1 ? [] : words.slice(flag + 1, flag + 2)), ...given]
}

/** Reads once from the beginning to the end. */
class Reader {
  readonly #text: string
  #at = 0
  #word: string | undefined
  #words: string[] = []
  #nested: string[] = []
  #given: string[] = []
  /** Words that end texts which begin on the next line. */
  #awaited: string[] = []
  readonly #found: Simple[] = []

  constructor(text: string) {
    this.#text = text
  }

  read(): readonly Simple[] {
    while (this.#at < this.#text.length) this.#step()
    this.#endCommand()
    return this.#found
  }

  #step(): void {
    const rest = this.#text.slice(this.#at, this.#at + 3)
    const [char = ''] = rest
    if (char === '\\') {
      // Before a line end it joins two lines; before anything else it makes it a plain one.
      if (rest[1] !== '\n') this.#add(rest[1] ?? '')
      this.#at += 2
    } else if (char === "'") this.#single()
    else if (char === '"') this.#double()
    else if (rest === '<<<') this.#at += 3
    else if (rest.startsWith('<<')) this.#hereText()
    else if (char === '#' && this.#word === undefined) this.#skipTo('\n')
    else if (char === '\n') this.#line()
    else if (/[;&|()`]/.test(char)) {
      this.#endCommand()
      this.#at++
    } else if (/[\s<>]/.test(char)) {
      this.#endWord()
      this.#at++
    } else {
      this.#add(char)
      this.#at++
    }
  }

  #add(chars: string): void {
    this.#word = (this.#word ?? '') + chars
  }

  #single(): void {
    const start = this.#at + 1
    this.#skipTo("'")
    this.#add(this.#text.slice(start, this.#at))
    this.#at++
  }

  #double(): void {
    let inside = ''
    for (this.#at++; this.#at < this.#text.length && this.#text[this.#at] !== '"'; this.#at++) {
      const run = this.#substitution()
      if (run !== undefined) this.#nested.push(run)
      else if (this.#text[this.#at] === '\\') this.#at++
      inside += run ?? this.#text[this.#at] ?? ''
    }
    this.#at++
    this.#add(inside)
  }

  /** What stands in `$(…)` or backticks that begin here; then the place is at their end. */
  #substitution(): string | undefined {
    const start = this.#at
    if (this.#text[start] === '`') {
      this.#skipTo('`')
      return this.#text.slice(start + 1, this.#at)
    }
    if (!this.#text.startsWith('$(', start)) return undefined
    let depth = 0
    for (; this.#at < this.#text.length; this.#at++) {
      if (this.#text[this.#at] === '(') depth++
      if (this.#text[this.#at] === ')' && --depth === 0) break
    }
    return this.#text.slice(start + 2, this.#at)
  }

  /** `<<WORD`: what follows this line, up to WORD, is text. */
  #hereText(): void {
    const [all = '<<', word = ''] =
      /^<<-?\s*['"\\]?([\w.-]+)['"]?/.exec(this.#text.slice(this.#at, this.#at + 200)) ?? []
    if (word !== '') this.#awaited.push(word)
    this.#endWord()
    this.#at += all.length
  }

  #line(): void {
    this.#at++
    for (const word of this.#awaited.splice(0)) {
      const lines: string[] = []
      while (this.#at < this.#text.length) {
        const start = this.#at
        this.#skipTo('\n')
        const line = this.#text.slice(start, this.#at++)
        if (line.trim() === word) break
        lines.push(line)
      }
      this.#given.push(lines.join('\n'))
    }
    this.#endCommand()
  }

  #skipTo(char: string): void {
    const found = this.#text.indexOf(char, this.#at + (char === '\n' ? 0 : 1))
    this.#at = found === -1 ? this.#text.length : found
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#words.push(this.#word)
    this.#word = undefined
  }

  #endCommand(): void {
    this.#endWord()
    if (this.#words.length > 0)
      this.#found.push({ words: this.#words, nested: this.#nested, given: this.#given })
    this.#words = []
    this.#nested = []
    this.#given = []
  }
}
