// The entry of our MCP server in Codex' config.toml: a marked table at the end, found again by its mark.
import { SavestateError } from '../../index.js'
import type { McpServer } from './mcp-server.js'
import { type FileChange, HOLDS_NOTHING, inFile } from './plan.js'
import { recordAfter, type Records } from './record.js'
import { type Edited, edited, lineEndOf, unedited } from './edit/text-edit.js'
import { tableAt } from './edit/toml-edit.js'

const MARK = '# Written by `savestate install --mcp`.'
/** The same, where the file had no end of its last line. */
const UNENDED_MARK = '# Written by `savestate install --mcp`, after a line without an end.'
const BLOCK =
  /# Written by `savestate install --mcp`(, after a line without an end)?\.\r?\n\[mcp_servers\.savestate\](?:\r?\n(?:command|args|env) = .*)*(?:\r?\n)?/

/** Undefined: it is to go. What is known of trust in the same file stays known. */
export function planServer(
  path: string,
  server: McpServer | undefined,
  records: Records,
): FileChange | undefined {
  return inFile(path, (text) => {
    const start = unedited(text ?? '')
    const result = server === undefined ? removeServer(start) : putServer(start, server)
    if (result.text === (text ?? '')) return undefined
    const record = records.get(path)
    const trusts = record?.trusts ?? []
    // Without a record it was written by a version that kept none, or the store was lost.
    const isOurs = record?.isCreated ?? true
    const isGone = result.text === '' && server === undefined && isOurs
    const isNothing = server === undefined && trusts.length === 0
    return {
      path,
      before: text,
      after: isGone ? undefined : result.text,
      mode: 0o600,
      ...(server === undefined ? {} : { holds: { ...HOLDS_NOTHING, servers: 1 } }),
      record: isNothing ? undefined : recordAfter({ record, text, result, trusts }),
    }
  })
}

export function hasServer(text: string): boolean {
  return BLOCK.test(text)
}

/** Where it stands already, it stays. */
function putServer(before: Edited, server: McpServer): Edited {
  const found = BLOCK.exec(before.text)
  if (found === null) return addServer(before, server)
  const [block, unended] = found
  const eol = lineEndOf(before.text)
  const end = /\r?\n$/.exec(block)?.[0] ?? ''
  const lines = [unended === undefined ? MARK : UNENDED_MARK, ...tableOf(server)]
  const inserted = lines.join(eol) + end
  if (inserted === block) return before
  return edited(before, { offset: found.index, removed: block, inserted })
}

/** An entry that is not marked is the person's, and stays. Throws CONFIG_INVALID. */
export function addServer(before: Edited, server: McpServer): Edited {
  const { text } = before
  if (tableAt(text, ['mcp_servers', 'savestate']) !== undefined) return before
  const eol = lineEndOf(text)
  const isUnended = text !== '' && !text.endsWith('\n')
  const gap = text === '' ? '' : isUnended ? eol + eol : eol
  const lines = [isUnended ? UNENDED_MARK : MARK, ...tableOf(server)]
  const inserted = `${gap}${lines.join(eol)}${eol}`
  const after = edited(before, { offset: text.length, removed: '', inserted })
  // What Codex will read has the entry, and nothing else has changed its meaning.
  if (tableAt(after.text, ['mcp_servers', 'savestate']) !== undefined) return after
  throw new SavestateError(
    'CONFIG_INVALID',
    'its table of servers has a form that Savestate cannot extend',
  )
}

export function removeServer(before: Edited): Edited {
  const found = BLOCK.exec(before.text)
  if (found === null) return before
  const [block, unended] = found
  const eol = lineEndOf(before.text)
  const head = before.text.slice(0, found.index)
  const end = found.index + block.length
  // What somebody has put behind it stays on a line of its own.
  const isLast = /^(?:$|\r?\n)/.test(before.text.slice(end))
  const gap = unended !== undefined && isLast ? eol + eol : eol
  const offset = head.endsWith(gap) ? head.length - gap.length : head.length
  return edited(before, { offset, removed: before.text.slice(offset, end), inserted: '' })
}

function tableOf({ command, args, env }: McpServer): readonly string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  return [
    '[mcp_servers.savestate]',
    `command = ${JSON.stringify(command)}`,
    `args = [${args.map((word) => JSON.stringify(word)).join(', ')}]`,
    ...(variables.length === 0 ? [] : [`env = { ${variables.join(', ')} }`]),
  ]
}
