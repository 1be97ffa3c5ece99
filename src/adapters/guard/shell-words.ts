// A line of shell, taken apart far enough to see which programs it starts with which words. It is no shell: what is
// made up while the line runs (variables, files that are sourced) is not seen. Texts that are only printed or written
// to a file are not taken for commands.
import {
  type HereText,
  isDescriptor,
  type Redirection,
  redirectionAt,
  type Shell,
  shellsFor,
} from './redirection.js'

/** More than this no one types; what is behind it is not looked at. */
const MAX_CHARS = 50_000
const MAX_DEPTH = 4

export type Command = {
  /** Without their quotes. */
  readonly words: readonly string[]
  /** What its redirections name: files above all. */
  readonly targets: readonly string[]
}

/** Every simple command of the text; also those in `$(…)`, `sh -c '…'` and the like. */
export function commandsIn(text: string): readonly Command[] {
  return commandsAt(text.slice(0, MAX_CHARS), 0)
}

function commandsAt(text: string, depth: number): readonly Command[] {
  if (depth > MAX_DEPTH) return []
  const found = shellsFor(text).flatMap((shell) => new Reader(text, shell).read())
  return found.flatMap(({ words, targets, given, nested }) => {
    const inner = [...nested, ...textsRunBy(words, given)]
    return [{ words, targets }, ...inner.flatMap((one) => commandsAt(one, depth + 1))]
  })
}

type Simple = {
  words: string[]
  targets: string[]
  /** Texts within its words that the shell runs. */
  nested: string[]
  /** Given on its stdin by `<<` and `<<<`. */
  given: string[]
}

/** A command that is being read. */
type Begun = Simple & {
  word: string | undefined
  /** No sign of it stood in quotes. */
  isPlain: boolean
  /** What the next word is for, if it is no argument. */
  awaiting: Redirection | undefined
}

const SHELL = /(?:^|\/)(?:ba|da|z|k|fi)?sh$/

/** What a shell or `eval` is given to run. */
function textsRunBy(words: readonly string[], given: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => SHELL.test(word) || word === 'eval')
  if (at === -1) return []
  if (words[at] === 'eval') return [words.slice(at + 1).join(' ')]
  const flag = words.findIndex((word, place) => place > at && /^-\w*c$/.test(word))
  return [...(flag === -1 ? [] : words.slice(flag + 1, flag + 2)), ...given]
}

function begun(): Begun {
  const lists = { words: [], targets: [], nested: [], given: [] }
  return { ...lists, word: undefined, isPlain: true, awaiting: undefined }
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
    } else if (char === "'") this.#single()
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
      if (/[;|]/.test(char)) this.#endCommand()
      else if (/\s/.test(char)) this.#endWord()
      else this.#add(char)
      this.#at++
    }
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
    const { words, targets } = this.#command
    if (words.length > 0 || targets.length > 0) this.#found.push(this.#command)
    this.#command = begun()
  }
}
