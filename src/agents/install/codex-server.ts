// The entry for our MCP server in Codex's config.toml: a table at the end, below a comment that marks it as ours.
import { SavestateError } from '../../index.js'
import type { McpServer } from './mcp-server.js'
import { type FileChange, NO_PARTS, inFile } from './plan.js'
import { recordAfter, type Records } from './record.js'
import { type Edited, applyEdit, detectLineEnd, startEdit } from './edit/text-edit.js'
import { tableAt } from './edit/toml-edit.js'

const MARK = '# Written by `savestate install --mcp`.'
/** If the last line of the file had no line end. */
const UNENDED_MARK = '# Written by `savestate install --mcp`, after a line without an end.'
const BLOCK =
  /# Written by `savestate install --mcp`(, after a line without an end)?\.\r?\n\[mcp_servers\.savestate\](?:\r?\n(?:command|args|env) = .*)*(?:\r?\n)?/

/** Without a server, plans its removal. Keeps the record of trusted hooks in the same file. */
export function planServer(
  path: string,
  server: McpServer | undefined,
  records: Records,
): FileChange | undefined {
  return inFile(path, (text) => {
    const start = startEdit(text ?? '')
    const result = server === undefined ? removeServer(start) : putServer(start, server)
    if (result.text === (text ?? '')) return undefined
    const record = records.get(path)
    const trusts = record?.trusts ?? []
    // Without a record, an older version wrote it, or the store was lost.
    const isOurs = record?.isCreated ?? true
    const isGone = result.text === '' && server === undefined && isOurs
    const isNothing = server === undefined && trusts.length === 0
    return {
      path,
      before: text,
      after: isGone ? undefined : result.text,
      mode: 0o600,
      ...(server === undefined ? {} : { holds: { ...NO_PARTS, servers: 1 } }),
      record: isNothing ? undefined : recordAfter({ record, text, result, trusts }),
    }
  })
}

export function hasServer(text: string): boolean {
  return BLOCK.test(text)
}

/** Replaces an existing entry of ours in place. */
function putServer(before: Edited, server: McpServer): Edited {
  const found = BLOCK.exec(before.text)
  if (found === null) return addServer(before, server)
  const [block, unended] = found
  const eol = detectLineEnd(before.text)
  const end = /\r?\n$/.exec(block)?.[0] ?? ''
  const lines = [unended === undefined ? MARK : UNENDED_MARK, ...tableOf(server)]
  const inserted = lines.join(eol) + end
  if (inserted === block) return before
  return applyEdit(before, { offset: found.index, removed: block, inserted })
}

/** Leaves an unmarked entry alone: it is the user's. Throws CONFIG_INVALID. */
export function addServer(before: Edited, server: McpServer): Edited {
  const { text } = before
  if (tableAt(text, ['mcp_servers', 'savestate']) !== undefined) return before
  const eol = detectLineEnd(text)
  const isUnended = text !== '' && !text.endsWith('\n')
  const gap = text === '' ? '' : isUnended ? eol + eol : eol
  const lines = [isUnended ? UNENDED_MARK : MARK, ...tableOf(server)]
  const inserted = `${gap}${lines.join(eol)}${eol}`
  const after = applyEdit(before, { offset: text.length, removed: '', inserted })
  // Check that Codex will find the entry.
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
  const eol = detectLineEnd(before.text)
  const head = before.text.slice(0, found.index)
  const end = found.index + block.length
  // Text that was added after the block stays on its own line.
  const isLast = /^(?:$|\r?\n)/.test(before.text.slice(end))
  const gap = unended !== undefined && isLast ? eol + eol : eol
  const offset = head.endsWith(gap) ? head.length - gap.length : head.length
  return applyEdit(before, { offset, removed: before.text.slice(offset, end), inserted: '' })
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
