// Splits a line of shell into simple commands and their words. It is no shell: it does not know the values of variables,
// and it does not read files that are sourced.
import {
  type HereText,
  isDescriptor,
  type Redirection,
  redirectionAt,
  type Shell,
  shellsFor,
} from './redirection.js'

export type Command = {
  /** Without their quotes. */
  readonly words: readonly string[]
  /** The names of files, and other words after a redirection. */
  readonly targets: readonly string[]
  /** Texts in `$(…)` within double quotes, which the shell runs. */
  readonly nested: readonly string[]
  /** Texts on its stdin, by `<<` and `<<<`. */
  readonly given: readonly string[]
  /** Reads what another command prints: it follows a `|`. */
  readonly isFed: boolean
}

/** The simple commands of a line of shell, also those in `(…)` and in `$(…)` without quotes. */
export function commandsIn(text: string): readonly Command[] {
  return shellsFor(text).flatMap((shell) => new Reader(text, shell).read())
}

type Simple = {
  words: string[]
  targets: string[]
  nested: string[]
  given: string[]
  isFed: boolean
}

/** A command that is being read. */
type Begun = Simple & {
  word: string | undefined
  /** No sign of it stood in quotes. */
  isPlain: boolean
  /** What the next word is for, if it is no argument. */
  awaiting: Redirection | undefined
}

function begun(): Begun {
  const lists = { words: [], targets: [], nested: [], given: [] }
  return { ...lists, isFed: false, word: undefined, isPlain: true, awaiting: undefined }
}

const ESCAPE = /\\(?:x([0-9a-f]{1,2})|u([0-9a-f]{1,4})|([0-7]{1,3})|(.))/gis

function decodeEscape(
  _all: string,
  ...[hex, unicode, octal, char]: (string | undefined)[]
): string {
  const code = hex ?? unicode
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8))
  return /^[nrt]$/.test(char ?? '') ? ' ' : (char ?? '')
}

/** Reads once from the beginning to the end. */
class Reader {
  readonly #text: string
  readonly #shell: Shell
  #at = 0
  #command = begun()
  /** Those that go on behind the `)` or the backtick, with the sign that has interrupted them. */
  readonly #outer: { readonly sign: string; readonly command: Begun }[] = []
  /** Words that end texts which begin on the next line. */
  #awaited: (HereText & { readonly word: string; readonly for: Begun })[] = []
  readonly #found: Simple[] = []

  constructor(text: string, shell: Shell) {
    this.#text = text
    this.#shell = shell
  }

  read(): readonly Simple[] {
    while (this.#at < this.#text.length) this.#step()
    this.#endCommand()
    while (this.#outer.length > 0) this.#resume()
    return this.#found
  }

  #step(): void {
    const rest = this.#text.slice(this.#at, this.#at + 2)
    const [char = ''] = rest
    if (char === '\\') {
      // Before a line end it joins two lines; before anything else it makes it a plain one.
      if (rest[1] !== '\n') this.#addQuoted(rest[1] ?? '')
      this.#at += 2
    } else if (rest === "$'") this.#escaped()
    else if (char === "'") this.#single()
    else if (char === '"') this.#double()
    else if (char === '#' && this.#command.word === undefined) this.#skipTo('\n')
    else if (char === '\n') this.#line()
    else if (/[$<>]\(/.test(rest)) this.#substitute('(', 2)
    else if (char === '`') {
      if (this.#outer.at(-1)?.sign === '`') this.#resume(1)
      else this.#substitute('`', 1)
    } else if (/[<>&]/.test(char)) this.#redirect()
    else this.#plain(char)
  }

  #plain(char: string): void {
    if (char === '(') {
      this.#endCommand()
      this.#interrupt('(', 1)
    } else if (char === ')') this.#resume(1)
    else {
      if (char === '|') this.#pipe()
      else if (char === ';') this.#endCommand()
      else if (/\s/.test(char)) this.#endWord()
      else this.#add(char)
      this.#at++
    }
  }

  #pipe(): void {
    this.#endCommand()
    const isOr = this.#text[this.#at + 1] === '|' || this.#text[this.#at - 1] === '|'
    this.#command.isFed = !isOr
  }

  /** What it will print is not known, and stands for a word or a part of one. */
  #substitute(sign: string, length: number): void {
    this.#add('$')
    this.#interrupt(sign, length)
  }

  /** Another command begins within this one, or in its place. */
  #interrupt(sign: string, length: number): void {
    this.#outer.push({ sign, command: this.#command })
    this.#command = begun()
    this.#at += length
  }

  #resume(length = 0): void {
    this.#endCommand()
    this.#command = this.#outer.pop()?.command ?? this.#command
    this.#at += length
  }

  #redirect(): void {
    const { word, isPlain } = this.#command
    const found = redirectionAt(this.#text, { at: this.#at, shell: this.#shell })
    if (found === undefined) this.#endCommand()
    else if (isPlain && isDescriptor(word, found.sign)) this.#command.word = undefined
    this.#endWord()
    this.#command.awaiting = found?.redirection
    this.#at += found?.sign.length ?? 1
  }

  #add(chars: string): void {
    this.#command.word = (this.#command.word ?? '') + chars
  }

  #addQuoted(chars: string): void {
    this.#add(chars)
    this.#command.isPlain = false
  }

  #single(): void {
    const start = this.#at + 1
    this.#skipTo("'")
    this.#addQuoted(this.#text.slice(start, this.#at))
    this.#at++
  }

  /** `$'…'`, in which bash and zsh decode escapes. */
  #escaped(): void {
    const [whole, inside = ''] = /^\$'((?:[^'\\]|\\.)*)'?/s.exec(this.#text.slice(this.#at)) ?? [
      '$',
    ]
    this.#addQuoted(inside.replaceAll(ESCAPE, decodeEscape))
    this.#at += whole.length
  }

  #double(): void {
    let inside = ''
    for (this.#at++; this.#at < this.#text.length && this.#text[this.#at] !== '"'; this.#at++) {
      const run = this.#substitution()
      if (run !== undefined) this.#command.nested.push(run)
      else if (this.#text[this.#at] === '\\') this.#at++
      inside += run ?? this.#text[this.#at] ?? ''
    }
    this.#at++
    this.#addQuoted(inside)
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

  #line(): void {
    this.#endWord()
    this.#at++
    for (const { word, isIndented, for: command } of this.#awaited.splice(0)) {
      const lines: string[] = []
      while (this.#at < this.#text.length) {
        const start = this.#at
        this.#skipTo('\n')
        const line = this.#text.slice(start, this.#at++)
        if ((isIndented ? line.replace(/^\t+/, '') : line) === word) break
        lines.push(line)
      }
      command.given.push(lines.join('\n'))
    }
    this.#endCommand()
  }

  #skipTo(char: string): void {
    const found = this.#text.indexOf(char, this.#at + (char === '\n' ? 0 : 1))
    this.#at = found === -1 ? this.#text.length : found
  }

  #endWord(): void {
    const command = this.#command
    const { word, awaiting } = command
    if (word === undefined) return
    if (awaiting === undefined) command.words.push(word)
    else if (awaiting.type === 'here') this.#awaited.push({ ...awaiting, word, for: command })
    else command.targets.push(word)
    if (awaiting?.type === 'text') command.given.push(word)
    Object.assign(command, { word: undefined, isPlain: true, awaiting: undefined })
  }

  #endCommand(): void {
    this.#endWord()
    const { words, targets, isFed } = this.#command
    const isEmpty = words.length === 0 && targets.length === 0
    if (!isEmpty) this.#found.push(this.#command)
    // `|&`: the `&` ends no command.
    this.#command = { ...begun(), isFed: isEmpty && isFed }
  }
}
