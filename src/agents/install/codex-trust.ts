// Codex runs a hook only if the user has trusted exactly this hook: its file, its position in it, and a hash of its command,
// recorded in Codex's config.toml. We write these records only after asking the user.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { fieldsOf, isRecord } from '../../base/index.js'
import { hasServer, removeServer } from './codex-server.js'
import { itemsAt, parseJson, valueOf } from './edit/json-edit.js'
import { type FileChange, inFile } from './plan.js'
import { configFolder, type Environment } from './config-paths.js'
import { type InstallRecord, recordAfter, type Records } from './record.js'
import { EVENTS, type Target } from './recipes.js'
import { type Edited, startEdit, undoEdits } from './edit/text-edit.js'
import { addTrust, removeTrust, type Trust } from './edit/toml-edit.js'

const DEFAULT_TIMEOUT = 600

/** Also for hooks of a project: trust belongs to the user. */
export function trustFile(environment: Environment): string {
  return join(configFolder('codex', { type: 'user' }, environment), 'config.toml')
}

/** The records that trust our hooks in the text of a hooks file. */
export function trustsIn(target: Target, text: string | undefined): readonly Trust[] {
  if (text === undefined || text.trim() === '' || target.type !== 'json') return []
  const root = parseJson(text)
  return EVENTS.codex.flatMap((event) =>
    (itemsAt(root, ['hooks', event]) ?? []).flatMap((item, index) => {
      const group = valueOf(item)
      if (!target.isOurs(group)) return []
      const name = event.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
      return [{ key: `${target.path}:${name}:${index}:0`, hash: hashOf(name, group) }]
    }),
  )
}

type TrustRequest = {
  readonly path: string
  /** The file with the hooks. */
  readonly hooksFile: string
  readonly trusts: readonly Trust[]
  readonly records: Records
}

/** Undefined if all hooks are trusted already. */
export function planTrust({
  path,
  hooksFile,
  trusts,
  records,
}: TrustRequest): FileChange | undefined {
  return inFile(path, (text) => {
    const record = records.get(path)
    const all = [...otherTrusts(record, hooksFile), ...trusts]
    const isStale = (known: Trust) => !all.some(({ key }) => key === known.key)
    const kept = (record?.trusts ?? [])
      .filter(isStale)
      .reduce<Edited>(removeTrust, startEdit(text ?? ''))
    const result = all.reduce<Edited>(addTrust, kept)
    if (result.text === text || trusts.length === 0) return undefined
    const after = recordAfter({ record, text, result, trusts: all })
    return { path, before: text, after: result.text, mode: 0o600, record: after }
  })
}

/** Removes the trust in all hooks of a file, and our MCP server with `isServerGone`. */
export function planDistrust({
  path,
  hooksFile,
  trusts,
  records,
  isServerGone,
}: TrustRequest & { readonly isServerGone: boolean }): FileChange | undefined {
  return inFile(path, (text) => {
    if (text === undefined) return undefined
    const record = records.get(path)
    const others = otherTrusts(record, hooksFile)
    const gone = [...(record?.trusts ?? []), ...trusts].filter((trust) => !others.includes(trust))
    const isLast = others.length === 0 && (isServerGone || !hasServer(text))
    // An exact undo removes everything of ours.
    const exact = record === undefined || !isLast ? undefined : undoEdits(text, record.undo)
    const distrusted =
      exact === undefined ? gone.reduce<Edited>(removeTrust, startEdit(text)) : startEdit(exact)
    const result = isServerGone ? removeServer(distrusted) : distrusted
    if (result.text === text) return undefined
    // Without a record, a file that contained only our server was written by an older version.
    const isCreated = record?.isCreated ?? (hasServer(text) && result.text === '')
    return {
      path,
      before: text,
      after: isLast && isCreated && result.text.trim() === '' ? undefined : result.text,
      mode: 0o600,
      record: isLast ? undefined : recordAfter({ record, text, result, trusts: others }),
    }
  })
}

/** Records for hooks in other files: those of a project, or the user's own. */
function otherTrusts(record: InstallRecord | undefined, hooksFile: string): readonly Trust[] {
  return (record?.trusts ?? []).filter(({ key }) => !key.startsWith(`${hooksFile}:`))
}

/** Codex hashes a group as JSON with sorted keys and with its defaults. */
function hashOf(eventName: string, group: unknown): string {
  const { matcher, hooks } = fieldsOf(group)
  const filled = (Array.isArray(hooks) ? hooks : []).map((hook: unknown) => {
    const { timeout = DEFAULT_TIMEOUT, async = false, ...rest } = fieldsOf(hook)
    return { ...rest, timeout, async }
  })
  const canonical = JSON.stringify(sortKeys({ event_name: eventName, matcher, hooks: filled }))
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sortKeys(inner)]),
  )
}
