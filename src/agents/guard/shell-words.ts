// Splits a line of shell into simple commands and their words. It is not a shell: it knows quotes, operators, substitutions
// and the start of redirections. It reports here-documents and `$'…'` as unclear; the guard then treats every text of the
// line as a command.

export type Command = {
  /** Without quotes. Includes the targets of redirections. */
  readonly words: string[]
  /** How many words precede the first redirection. Shells disagree about those after it. */
  plainCount: number
  /** Its stdin is the output of the previous command. */
  readonly isFed: boolean
  /** It contains `$(…)`, `<(…)` or backticks; each is a `$` in the words and a separate command. */
  hasSubstitution: boolean
}

export type Line = { readonly commands: readonly Command[]; readonly isUnclear: boolean }

/** Deeper substitutions are treated as not nested, so that no line can overflow the stack. */
const MAX_DEPTH = 50

export function splitLine(text: string): Line {
  const splitter = new Splitter(text)
  splitter.readCommands()
  return {
    commands: splitter.commands,
    isUnclear: splitter.isTooDeep || /<<(?!<)|\$'/.test(text),
  }
}

class Splitter {
  readonly commands: Command[] = []
  isTooDeep = false
  #depth = 0
  readonly #text: string
  #at = 0
  #command = emptyCommand()
  #word: string | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** Reads up to the closing character, or the end of the text. */
  readCommands(closing?: ')' | '`'): void {
    if (this.#depth > MAX_DEPTH) {
      this.isTooDeep = true
      return this.#endCommand()
    }
    this.#depth++
    const outer = { command: this.#command, word: this.#word }
    this.#command = emptyCommand()
    this.#word = undefined
    while (this.#at < this.#text.length && this.#text[this.#at] !== closing) this.#read()
    this.#at++
    this.#endCommand()
    this.#command = outer.command
    this.#word = outer.word
    this.#depth--
  }

  #read(): void {
    const rest = this.#text.slice(this.#at, this.#at + 4)
    const char = rest[0] ?? ''
    const redirection = /^&?[<>]+[&|!]?/.exec(rest)?.[0]
    if (char === '\\') this.#escape()
    else if (char === "'") this.#single()
    else if (char === '"') this.#double()
    else if (char === '#' && this.#word === undefined) this.#at = this.#find('\n')
    else if (/^[$<>]\(|^`/.test(rest)) this.#substitute()
    else if (redirection !== undefined) this.#redirect(redirection.length)
    else {
      this.#at++
      if (char === '(') {
        this.#endCommand()
        this.readCommands(')')
      } else if (char === '|') this.#pipe()
      else if (/[;&\n)]/.test(char)) this.#endCommand()
      else if (/\s/.test(char)) this.#endWord()
      else this.#add(char)
    }
  }

  #escape(): void {
    const next = this.#text[this.#at + 1] ?? ''
    if (next !== '\n') this.#add(next)
    this.#at += 2
  }

  #single(): void {
    const start = this.#at + 1
    this.#at = this.#find("'", start)
    this.#add(this.#text.slice(start, this.#at++))
  }

  #double(): void {
    this.#add('')
    for (this.#at++; this.#at < this.#text.length && this.#text[this.#at] !== '"'; ) {
      if (/^(?:\$\(|`)/.test(this.#text.slice(this.#at, this.#at + 2))) this.#substitute()
      else if (this.#text[this.#at] === '\\') this.#escape()
      else this.#add(this.#text[this.#at++] ?? '')
    }
    this.#at++
  }

  #substitute(): void {
    this.#add('$')
    this.#command.hasSubstitution = true
    const isBacktick = this.#text[this.#at] === '`'
    this.#at += isBacktick ? 1 : 2
    this.readCommands(isBacktick ? '`' : ')')
  }

  #redirect(length: number): void {
    // The number of a descriptor, as in `2>`.
    if (/^(?:\d+|\{\w+\})$/.test(this.#word ?? '')) this.#word = undefined
    this.#endWord()
    this.#command.plainCount = Math.min(this.#command.plainCount, this.#command.words.length)
    this.#at += length
  }

  /** `||` connects no pipe; `|&` ends an empty command, which passes the pipe on. */
  #pipe(): void {
    const isOr = this.#text[this.#at] === '|'
    if (isOr) this.#at++
    this.#endCommand()
    this.#command = { ...emptyCommand(), isFed: !isOr }
  }

  #add(chars: string): void {
    this.#word = (this.#word ?? '') + chars
  }

  #endWord(): void {
    if (this.#word !== undefined) this.#command.words.push(this.#word)
    this.#word = undefined
  }

  #endCommand(): void {
    this.#endWord()
    const { words, isFed } = this.#command
    if (words.length > 0) this.commands.push(this.#command)
    this.#command = { ...emptyCommand(), isFed: isFed && words.length === 0 }
  }

  #find(char: string, from = this.#at): number {
    const found = this.#text.indexOf(char, from)
    return found === -1 ? this.#text.length : found
  }
}

function emptyCommand(): Command {
  return { words: [], plainCount: Infinity, isFed: false, hasSubstitution: false }
}
