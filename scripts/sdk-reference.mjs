// Makes docs/reference/sdk.md from the published declarations (dist/types), so that it cannot differ from them.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'rolldown/utils'

const TYPES = fileURLToPath(new URL('../dist/types', import.meta.url))

const INTRODUCTION = `# SDK reference

<!-- Made by scripts/docs.mjs from dist/types. Do not edit. -->

\`\`\`js
import { openStore } from 'savestate'

await using store = await openStore()
const { session, state } = await store.resume('fix-login', { create: true })
\`\`\`

The same rules hold for every call:

- A call takes *(identity, options)*: first what it is about, such as a path, an id or a reference, then one object with everything else.
  An unknown option is refused with \`BAD_INPUT\`.
- A reference (\`ref\`) is the id of a checkpoint, a prefix of it of at least 4 letters, a name, or a number (1 is the newest).
- \`signal\` cancels a call, which then rejects with the reason of the signal. The store stays intact. A rewind can be cancelled until it
  begins to change files.
- \`null\` is a value of a result: there is none, and JSON shows it. \`undefined\` means that a lookup found nothing, or that an option was left
  out.
- Times are \`Date\` in options and results. JSON shows them as ISO text in UTC. The items of \`session.export\` are JSON themselves and hold text.
- A failure is a \`SavestateError\` with a permanent \`code\` ([error codes](errors.md)).
- Results are plain data and do not change later.
`

const CLASSES = ['Store', 'Project', 'Session', 'Maintenance', 'ClassRegistry', 'SavestateError']

/** The page. `dist/types` must be built. */
export function sdkReference() {
  const index = parse(join(TYPES, 'index.d.ts'))
  for (const { specifiers = [] } of index.program.body)
    for (const { exported } of specifiers) known.set(exported.name, find(index, exported.name))
  const names = [...known.keys()].sort(byName)
  const functions = names.filter((name) => known.get(name).node.type === 'TSDeclareFunction')
  const types = names.filter((name) => !CLASSES.includes(name) && !functions.includes(name))
  return [
    INTRODUCTION,
    '## Functions\n',
    ...functions.map((name) => functionSection(known.get(name))),
    ...CLASSES.map((name) => classSection(name, known.get(name))),
    '## Types and constants\n',
    ...types.map((name) => typeSection(name, known.get(name))),
  ].join('\n')
}

/** The exports of the package, by name. */
const known = new Map()
const files = new Map()

function parse(path) {
  const parsed = files.get(path)
  if (parsed !== undefined) return parsed
  const source = readFileSync(path, 'utf8')
  const { program, comments } = parseSync(path, source)
  const file = { path, source, program, comments }
  files.set(path, file)
  return file
}

/** The declaration that a name stands for in a file; undefined for one that is not ours. */
function find(file, name) {
  for (const statement of file.program.body) {
    const node = statement.declaration ?? statement
    const declared = node.id?.name ?? node.declarations?.[0]?.id.name
    if (declared === name) return { file, node, doc: docBefore(file, statement.start) }
  }
  for (const { type, source, specifiers = [] } of file.program.body) {
    if (source?.value?.startsWith('.') !== true) continue
    const from = () => parse(join(dirname(file.path), source.value.replace(/\.js$/, '.d.ts')))
    const one = specifiers.find((each) => (each.exported ?? each.local)?.name === name)
    const inner = (one?.imported ?? (one?.exported && one.local))?.name
    if (inner !== undefined) return find(from(), inner)
    const found = type === 'ExportAllDeclaration' ? find(from(), name) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** The same for a name in a type, such as `engine.SaveResult`. */
function findType(file, { name, left, right }) {
  if (name !== undefined) return find(file, name)
  const space = file.program.body.find(({ specifiers = [] }) =>
    specifiers.some(
      ({ type, local }) => type === 'ImportNamespaceSpecifier' && local.name === left.name,
    ),
  )
  if (space === undefined) return undefined
  return find(
    parse(join(dirname(file.path), space.source.value.replace(/\.js$/, '.d.ts'))),
    right.name,
  )
}

/** The text of the doc comment that ends just before a position. */
function docBefore({ source, comments }, position) {
  const comment = comments.findLast(({ end }) => end <= position)
  if (comment === undefined || !comment.value.startsWith('*')) return ''
  if (source.slice(comment.end, position).trim() !== '') return ''
  const lines = comment.value.slice(1).split('\n')
  return lines
    .map((line) => line.replace(/^\s*\*?\s?/, '').trimEnd())
    .join(' ')
    .trim()
}

/** The text of a node on one line, without `readonly` and our own namespaces. */
function textOf({ source }, { start, end }) {
  return source
    .slice(start, end)
    .replaceAll(/\/\*\*[\s\S]*?\*\/\s*/g, '')
    .replaceAll(/\breadonly (?=[\w[]+\??:|\[)/g, '')
    .replaceAll('engine.', '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/;(?= \})/g, '')
    .replace(/;$/, '')
}

function functionSection({ file, node, doc }) {
  const signature = textOf(file, node).replace(/^(export )?declare function /, '')
  return section(`### ${node.id.name}`, signature, doc, optionsOf(signature))
}

function classSection(name, { file, node, doc }) {
  const subject = name[0].toLowerCase() + name.slice(1)
  const sections = new Map()
  for (const member of node.body.body) {
    const called = member.key?.name ?? (member.computed ? '[Symbol.asyncDispose]' : undefined)
    const isHidden = Boolean(member.accessibility) || member.key?.type === 'PrivateIdentifier'
    if (called === undefined || isHidden || called === 'constructor') continue
    const entry = sections.get(called) ?? { signatures: [], doc: '' }
    entry.signatures.push(signatureOf(file, member))
    entry.doc ||= docBefore(file, member.start)
    sections.set(called, entry)
  }
  return [
    `## ${name}\n`,
    doc === '' ? '' : `${doc}\n`,
    ...[...sections].map(([called, { signatures, doc: text }]) =>
      section(
        `### ${subject}.${called}`,
        signatures.join('\n'),
        text,
        optionsOf(signatures.join()),
      ),
    ),
  ].join('\n')
}

function signatureOf(file, member) {
  const text = textOf(file, member).replace(/^(static|get) /, '')
  return member.kind === 'get' ? text.replace('()', '') : text
}

function section(heading, signature, ...texts) {
  const rest = texts.filter((text) => text !== '').map((text) => `${text}\n`)
  return [`${heading}\n`, `\`\`\`ts\n${signature}\n\`\`\`\n`, ...rest].join('\n')
}

/** Links to the types that a signature takes. */
function optionsOf(signature) {
  const taken = signature.match(/\b\w+(?:Options|Query|Resolution|Request|Items)\b/g) ?? []
  const names = [...new Set(taken)].filter((name) => known.has(name))
  return names.length === 0
    ? ''
    : `See ${names.map((name) => `[${name}](#${anchor(name)})`).join(', ')}.`
}

function typeSection(name, { file, node, doc }) {
  const heading = `### ${name}\n`
  const text = doc === '' ? [] : [`${doc}\n`]
  const members =
    node.type === 'TSTypeAliasDeclaration' ? membersOf(node.typeAnnotation, file) : undefined
  if (members === undefined) {
    const code =
      node.type === 'TSTypeAliasDeclaration' ? textOf(file, node) : constantText(name, file, node)
    return [
      heading,
      ...text,
      `\`\`\`ts\n${code.replace(/^(export |declare )+/, '')}\n\`\`\`\n`,
    ].join('\n')
  }
  const lines = members.map(
    ({ signature, doc: about }) => `- \`${signature}\`${about === '' ? '' : `: ${about}`}`,
  )
  return [heading, ...text, `${lines.join('\n')}\n`].join('\n')
}

/** A constant by its type alone, unless it is long. */
function constantText(name, file, node) {
  const text = textOf(file, node)
  return text.length > 400 ? `const ${name}: { … }` : text
}

/** The members of an object type, also if it is put together of others; undefined for any other type. */
function membersOf(type, file) {
  if (type.type === 'TSTypeLiteral')
    return type.members.map((member) => ({
      key: member.key?.name,
      signature: textOf(file, member),
      doc: docBefore(file, member.start),
    }))
  if (type.type === 'TSParenthesizedType') return membersOf(type.typeAnnotation, file)
  if (type.type === 'TSIntersectionType') {
    const parts = type.types.map((part) => membersOf(part, file))
    return parts.includes(undefined) ? undefined : parts.flat()
  }
  if (type.type !== 'TSTypeReference') return undefined
  const { name } = type.typeName
  const [first, second] = type.typeArguments?.params ?? []
  if (name === 'Omit' || name === 'Pick') {
    const keys = textOf(file, second).match(/(?<=')[^']+(?=')/g) ?? []
    const all = membersOf(first, file)
    return all?.filter(({ key }) => keys.includes(key) === (name === 'Pick'))
  }
  const found = findType(file, type.typeName)
  return found?.node.type === 'TSTypeAliasDeclaration'
    ? membersOf(found.node.typeAnnotation, found.file)
    : undefined
}

function anchor(name) {
  return name.toLowerCase()
}

function byName(a, b) {
  return a.toLowerCase() < b.toLowerCase() ? -1 : 1
}
