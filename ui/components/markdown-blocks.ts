// Parses the part of Markdown that agents use in answers into plain data. The text is not trusted: there is no HTML and no image,
// nesting has a limit, and the time is linear in the length of the text.

export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis'; readonly content: readonly Inline[] }
  | { readonly kind: 'link'; readonly target: string; readonly text: string }

export type Block =
  | { readonly kind: 'paragraph'; readonly content: readonly Inline[] }
  | { readonly kind: 'heading'; readonly level: number; readonly content: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  /** Columns stay as they were typed. */
  | { readonly kind: 'table'; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | { readonly kind: 'list'; readonly items: readonly ListItem[] }
  | { readonly kind: 'rule' }
export type ListItem = {
  /** `•`, or the number as it was typed. */
  readonly marker: string
  readonly depth: number
  readonly content: readonly Inline[]
}

const MAX_QUOTES = 4
const MAX_DEPTH = 5
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/
const HEADING = /^ {0,3}(#{1,6})\s+/
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/
const LIST = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/
const QUOTE = /^ {0,3}> ?/
const TABLE = /^\|? *:?-+:? *(?:\| *:?-+:? *)+\|?$/

export function parseMarkdown(text: string, quotes = 0): readonly Block[] {
  const lines = text.split(/\r?\n/)
  const blocks: Block[] = []
  let paragraph: string[] = []
  const endParagraph = (): void => {
    if (paragraph.length > 0)
      blocks.push({ kind: 'paragraph', content: parseInline(paragraph.join('\n')) })
    paragraph = []
  }
  let at = 0
  /** Takes the lines from `at` on while they match. */
  const takeWhile = (matches: (line: string) => boolean): string[] => {
    const from = at
    while (at < lines.length && matches(lines[at] ?? '')) at += 1
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at] ?? ''
    const fence = FENCE.exec(line)
    const heading = HEADING.exec(line)
    if (line.trim() === '') {
      endParagraph()
      at += 1
    } else if (fence !== null) {
      endParagraph()
      at += 1
      const mark = fence[1] ?? ''
      const code = takeWhile((one) => !isFenceEnd(one, mark))
      at += 1
      blocks.push({ kind: 'code', language: fence[2] ?? '', text: code.join('\n') })
    } else if (heading !== null) {
      endParagraph()
      at += 1
      const content = parseInline(trimEnd(line.slice(heading[0].length), ' #'))
      blocks.push({ kind: 'heading', level: heading[1]?.length ?? 1, content })
    } else if (RULE.test(line)) {
      endParagraph()
      at += 1
      blocks.push({ kind: 'rule' })
    } else if (QUOTE.test(line) && quotes < MAX_QUOTES) {
      endParagraph()
      const quoted = takeWhile((one) => QUOTE.test(one)).map((one) => one.replace(QUOTE, ''))
      blocks.push({ kind: 'quote', blocks: parseMarkdown(quoted.join('\n'), quotes + 1) })
    } else if (LIST.test(line)) {
      endParagraph()
      blocks.push(parseList(takeWhile((one) => LIST.test(one) || /^\s+\S/.test(one))))
    } else if (line.includes('|') && TABLE.test((lines[at + 1] ?? '').trim())) {
      endParagraph()
      blocks.push({ kind: 'table', text: takeWhile((one) => one.includes('|')).join('\n') })
    } else {
      paragraph.push(line)
      at += 1
    }
  }
  endParagraph()
  return blocks
}

function isFenceEnd(line: string, mark: string): boolean {
  const end = line.trim()
  return end.length >= mark.length && end === (mark[0] ?? '').repeat(end.length)
}

/** A flat list: the depth of an item comes from its indent compared with the items before it. */
function parseList(lines: readonly string[]): Block {
  const items: { marker: string; depth: number; lines: string[] }[] = []
  let indents: number[] = []
  for (const line of lines) {
    const [, indent = '', mark = '', words = ''] = LIST.exec(line) ?? []
    const last = items.at(-1)
    if (mark === '' && last !== undefined) {
      last.lines.push(line.trim())
      continue
    }
    const width = indent.replaceAll('\t', '    ').length
    indents = [...indents.filter((one) => one < width), width].slice(0, MAX_DEPTH)
    const marker = /\d/.test(mark) ? mark : '•'
    items.push({ marker, depth: indents.length - 1, lines: [words] })
  }
  return {
    kind: 'list',
    items: items.map((item) => ({
      marker: item.marker,
      depth: item.depth,
      content: parseInline(item.lines.join('\n')),
    })),
  }
}

const ESCAPABLE = /[!-/:-@[-`{-~]/
const ADDRESS = /https?:\/\/[^\s<>"'`|\\^{}]{1,2000}/y
const TARGET =
  /\]\(([^\s()<>]{0,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)(?: "[^"\n]{0,200}")?\)/y

type Delimiter = '**' | '__' | '*' | '_'
/** An emphasis that is not closed yet; the first frame is the text itself. */
type Frame = { readonly delimiter: Delimiter | ''; readonly content: Inline[] }

export function parseInline(text: string): readonly Inline[] {
  // One frame per kind of delimiter at most, so the depth is at most four.
  const frames: Frame[] = [{ delimiter: '', content: [] }]
  const ticks = findTicks(text)
  const push = (one: Inline): void => {
    const content = frames.at(-1)?.content ?? []
    const before = content.at(-1)
    if (one.kind === 'text' && before?.kind === 'text')
      content[content.length - 1] = { kind: 'text', text: before.text + one.text }
    else if (one.kind !== 'text' || one.text !== '') content.push(one)
  }
  /** Makes the innermost open emphasis plain text again. */
  const dissolve = (): void => {
    const frame = frames.pop()
    if (frame === undefined) return
    push({ kind: 'text', text: frame.delimiter })
    for (const one of frame.content) push(one)
  }
  let at = 0
  let plainFrom = 0
  const flush = (): void => {
    if (plainFrom < at) push({ kind: 'text', text: text.slice(plainFrom, at) })
  }
  const next = (length: number): void => {
    at += length
    plainFrom = at
  }
  while (at < text.length) {
    const character = text[at] ?? ''
    if (character === '\\' && ESCAPABLE.test(text[at + 1] ?? '')) {
      flush()
      push({ kind: 'text', text: text[at + 1] ?? '' })
      next(2)
    } else if (character === '`') {
      const length = ticks.lengthAt(at)
      const end = ticks.closing(at, length)
      flush()
      const code = end === undefined ? undefined : text.slice(at + length, end)
      if (code === undefined) push({ kind: 'text', text: '`'.repeat(length) })
      else push({ kind: 'code', text: trimCode(code) })
      next(end === undefined ? length : end + length - at)
    } else if (character === '[') {
      const link = readLink(text, at)
      if (link === undefined) at += 1
      else {
        flush()
        push(link.inline)
        next(link.length)
      }
    } else if (character === 'h' && !/\w/.test(text[at - 1] ?? '')) {
      ADDRESS.lastIndex = at
      const found = ADDRESS.exec(text)?.[0]
      const target = found === undefined ? '' : trimEnd(found, '.,;:!?)]*_')
      if (target === '') at += 1
      else {
        flush()
        push({ kind: 'link', target, text: target })
        next(target.length)
      }
    } else if (character === '*' || character === '_') {
      const isDouble = text[at + 1] === character
      const delimiter = (isDouble ? character + character : character) as Delimiter
      const before = text[at - 1] ?? ' '
      const after = text[at + delimiter.length] ?? ' '
      const isOpen = frames.some((frame) => frame.delimiter === delimiter)
      // An underscore within a word is part of a name.
      const splitsWord = character === '_' && /\w/.test(before) && /\w/.test(after)
      flush()
      if (isOpen && /\S/.test(before) && !splitsWord) {
        while (frames.at(-1)?.delimiter !== delimiter) dissolve()
        const content = frames.pop()?.content ?? []
        push({ kind: isDouble ? 'strong' : 'emphasis', content })
      } else if (!isOpen && /\S/.test(after) && !splitsWord) frames.push({ delimiter, content: [] })
      else push({ kind: 'text', text: delimiter })
      next(delimiter.length)
    } else at += 1
  }
  flush()
  while (frames.length > 1) dissolve()
  return frames[0]?.content ?? []
}

/** `` ` `` is written as ``` `` ` `` ```: one space on each side is not part of the code. */
function trimCode(code: string): string {
  return code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '' ? code.slice(1, -1) : code
}

// A regular expression for the end of a text would try every position.
function trimEnd(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] ?? ' ')) end -= 1
  return text.slice(0, end)
}

const MAX_LINK_TEXT = 1000

/** `[text](target)`. The text of a link has no formatting, and no brackets. */
function readLink(
  text: string,
  at: number,
): { readonly inline: Inline; readonly length: number } | undefined {
  let end = at + 1
  while (end < text.length && end - at < MAX_LINK_TEXT && !'[]'.includes(text[end] ?? '')) end += 1
  if (text[end] !== ']') return undefined
  TARGET.lastIndex = end
  const found = TARGET.exec(text)
  if (found === null) return undefined
  const label = text.slice(at + 1, end).replaceAll(/[*`]/g, '')
  const target = found[1] ?? ''
  return {
    inline: { kind: 'link', target, text: label === '' ? target : label },
    length: TARGET.lastIndex - at,
  }
}

/** The runs of backticks by their length, so that the end of a code span is found without searching the text again. */
function findTicks(text: string): {
  readonly lengthAt: (at: number) => number
  readonly closing: (at: number, length: number) => number | undefined
} {
  const lengths = new Map<number, number>()
  const starts = new Map<number, number[]>()
  for (const { index, 0: run } of text.matchAll(/`+/g)) {
    lengths.set(index, run.length)
    const known = starts.get(run.length)
    if (known === undefined) starts.set(run.length, [index])
    else known.push(index)
  }
  const used = new Map<number, number>()
  return {
    // A backtick after a backslash begins a run of its own.
    lengthAt: (at) => lengths.get(at) ?? 1,
    closing: (at, length) => {
      const list = starts.get(length) ?? []
      let next = used.get(length) ?? 0
      while (next < list.length && (list[next] ?? 0) <= at) next += 1
      used.set(length, next)
      return list[next]
    },
  }
}
