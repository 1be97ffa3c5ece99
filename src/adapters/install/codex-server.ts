// The entry of our MCP server in Codex' config.toml: a marked table at the end, found again by its mark.
import { SavestateError } from '../../index.js'
import type { McpServer } from './mcp-server.js'
import { type FileChange, inFile } from './plan.js'
import type { Records } from './record.js'
import { type Edited, edited, lineEndOf, unedited } from './text-edit.js'
import { tableAt } from './toml-edit.js'

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
    const without = removeServer(unedited(text ?? ''))
    const { text: after } = server === undefined ? without : addServer(without, server)
    if (after === (text ?? '')) return undefined
    const isGone = after === '' && server === undefined
    const record = records.get(path)
    return { path, before: text, after: isGone ? undefined : after, mode: 0o600, record }
  })
}

/** The same for a file of which something else goes as well. */
export function withoutServer(
  path: string,
  change: FileChange | undefined,
  records: Records,
): FileChange | undefined {
  if (change === undefined) return planServer(path, undefined, records)
  if (change.after === undefined) return change
  const { text } = removeServer(unedited(change.after))
  const isGone = text === '' && change.after !== ''
  return { ...change, after: isGone ? undefined : text }
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
  throw new SavestateError('CONFIG_INVALID', 'its table of servers cannot be added to')
}

export function removeServer(before: Edited): Edited {
  const found = BLOCK.exec(before.text)
  if (found === null) return before
  const [block, unended] = found
  const eol = lineEndOf(before.text)
  const head = before.text.slice(0, found.index)
  const gap = unended === undefined ? eol : eol + eol
  const offset = head.endsWith(gap) ? head.length - gap.length : head.length
  const end = found.index + block.length
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
