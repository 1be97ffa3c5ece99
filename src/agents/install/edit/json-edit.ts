// Adds entries to JSON with comments, and removes them, by editing the text. Order, comments, indentation and line ends of
// everything else stay unchanged.
import { getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser'
import { SavestateError } from '../../../index.js'
import { detectLineEnd } from './text-edit.js'

export type JsonPath = readonly string[]

const PARSING = { allowTrailingComma: true, disallowComments: false }

/** Throws CONFIG_INVALID if it is not a JSON object. */
export function parseJson(text: string): Node {
  const errors: ParseError[] = []
  const root = parseNodes(withoutMark(text), errors)
  const [fault] = errors
  if (root === undefined || fault !== undefined) {
    const line = text.slice(0, fault?.offset ?? 0).split('\n').length
    throw invalid(`it is not JSON (line ${line})`)
  }
  if (root.type !== 'object') throw invalid('it is not an object')
  return root
}

/** The parser is recursive. */
function parseNodes(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, PARSING)
  } catch (error) {
    if (error instanceof RangeError) throw invalid('it is nested too deeply')
    throw error
  }
}

export function invalid(why: string): SavestateError {
  return new SavestateError('CONFIG_INVALID', why)
}

/** The value at a path; undefined if there is none. Throws CONFIG_INVALID if the path leads through a non-object. */
export function nodeAt(root: Node, path: JsonPath): Node | undefined {
  let node: Node | undefined = root
  for (const key of path) {
    if (node === undefined) return undefined
    if (node.type !== 'object')
      throw invalid(`${JSON.stringify(key)} is in a value that is not an object`)
    const found: Node[] = propertiesOf(node)
      .filter(([name]) => name === key)
      .map(([, value]) => value)
    if (found.length > 1) throw invalid(`${JSON.stringify(key)} occurs twice in it`)
    node = found[0]
  }
  return node
}

/** The items of the list at a path; undefined if there is none. Throws CONFIG_INVALID if it is not a list. */
export function itemsAt(root: Node, path: JsonPath): readonly Node[] | undefined {
  const node = nodeAt(root, path)
  if (node === undefined) return undefined
  if (node.type !== 'array') throw invalid(`${path.join('.')} is not a list`)
  return node.children ?? []
}

/** As JSON.parse returns it: the parser's own objects have no prototype, so they would equal none of ours. */
export function valueOf(node: Node): unknown {
  return JSON.parse(JSON.stringify(getNodeValue(node)))
}

/** Appends a value to the list at a path. Creates missing parents. */
export function addItem(text: string, path: JsonPath, value: unknown): string {
  const root = parseJson(text)
  if (itemsAt(root, path) === undefined) return addProperty(text, path, [value])
  return append(text, nodeAt(root, path), (indent, unit) => pretty(value, { indent, unit }))
}

/** Adds a property that does not exist yet. Creates missing parents. */
export function addProperty(text: string, path: JsonPath, value: unknown): string {
  const root = parseJson(text)
  const depth = path.findIndex((_, index) => nodeAt(root, path.slice(0, index + 1)) === undefined)
  const missing = path.slice(depth + 1).reduceRight((inner, key) => ({ [key]: inner }), value)
  const key = JSON.stringify(path[depth])
  return append(
    text,
    nodeAt(root, path.slice(0, depth)),
    (indent, unit) => `${key}: ${pretty(missing, { indent, unit })}`,
  )
}

/** Removes an item of a list, or a property of an object, with its comma; and lists and objects that become empty. */
export function removeAt(text: string, container: Node, index: number): string {
  const items = container.children ?? []
  const item = items[index]
  if (item === undefined) return text
  const previous = items[index - 1]
  const contentStart = previous === undefined ? container.offset + 1 : endOf(previous)
  const from = lastSolidEnd(text, contentStart, item.offset)
  const next = items[index + 1]?.offset ?? endOf(container) - 1
  const comma = commaIn(text, endOf(item), next)
  const to = comma === undefined ? endOf(item) : comma + 1
  const before = text.slice(0, from)
  const after = text.slice(to)
  const [inside, close] = [container.offset + 1, endOf(container) - 1]
  // Comments of the user keep a list or an object.
  if (items.length === 1 && (text.slice(inside, from) + text.slice(to, close)).trim() === '') {
    const holder = container.parent?.type === 'property' ? container.parent : container
    const outer = holder.parent
    return outer?.children === undefined
      ? text.slice(0, inside) + text.slice(close)
      : removeAt(text, outer, outer.children.indexOf(holder))
  }
  const spare = comma === undefined && previous !== undefined
  const at = spare ? commaIn(text, contentStart, item.offset) : undefined
  return at === undefined ? before + after : before.slice(0, at) + before.slice(at + 1) + after
}

type Written = (indent: string, unit: string) => string

function append(text: string, container: Node | undefined, write: Written): string {
  if (container === undefined) throw new Error('There is nothing to add to')
  const items = container.children ?? []
  const last = items.at(-1)
  const close = endOf(container) - 1
  const contentEnd = last === undefined ? container.offset + 1 : endOf(last)
  const offset = lastSolidEnd(text, contentEnd, close)
  const hasComma = last !== undefined && commaIn(text, contentEnd, close) !== undefined
  const isInline = last !== undefined && !text.slice(container.offset, close).includes('\n')
  const eol = detectLineEnd(text)
  const unit = unitOf(text)
  const outer = indentAt(text, container.offset)
  const inner =
    last !== undefined && isFirstOnLine(text, last.offset)
      ? indentAt(text, last.offset)
      : outer + unit
  const written = isInline
    ? ` ${compact(write('', ''))}`
    : eol + inner + write(inner, unit).replaceAll('\n', eol)
  const isClosed = isInline || text.slice(offset, close).includes('\n')
  const inserted = written + (hasComma ? ',' : '') + (isClosed ? '' : eol + outer)
  const comma = last === undefined || hasComma ? '' : ','
  return (
    text.slice(0, contentEnd) +
    comma +
    text.slice(contentEnd, offset) +
    inserted +
    text.slice(offset)
  )
}

function pretty(value: unknown, { indent, unit }: { indent: string; unit: string }): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `\n${indent}`)
}

/** One line. Strings in JSON contain no line ends. */
function compact(text: string): string {
  return text.replaceAll('\n', ' ')
}

/** The end of the last comma or comment in a range. */
function lastSolidEnd(text: string, from: number, to: number): number {
  return solidIn(text, from, to).at(-1)?.end ?? from
}

function commaIn(text: string, from: number, to: number): number | undefined {
  return solidIn(text, from, to).find(({ isComma }) => isComma)?.start
}

/** The commas and comments in a range between two values. */
function solidIn(text: string, from: number, to: number) {
  return [...text.slice(from, to).matchAll(/,|\/\/[^\r\n]*|\/\*[^]*?\*\//g)].map((match) => {
    const start = from + match.index
    return { start, end: start + match[0].length, isComma: match[0] === ',' }
  })
}

export function propertiesOf(object: Node): readonly (readonly [string, Node])[] {
  return (object.children ?? []).flatMap(({ children: [key, value] = [] }) =>
    typeof key?.value === 'string' && value !== undefined ? [[key.value, value] as const] : [],
  )
}

function endOf({ offset, length }: Node): number {
  return offset + length
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[\uFEFF]?([ \t]*)/.exec(line)?.[1] ?? ''
}

function isFirstOnLine(text: string, offset: number): boolean {
  return /^[ \t]*$/.test(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))
}

/** The indentation of the first indented line. */
function unitOf(text: string): string {
  return /\n([ \t]+)["}\]{[]/.exec(text)?.[1] ?? '  '
}

/** A byte order mark is not JSON; replacing it with a space keeps all offsets. */
function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, ' ')
}
