// Codex runs a hook only if the person has trusted exactly this hook: its file, its place in it, and a hash of what it
// runs, noted in Codex' own config.toml. Written only after the person was asked for that.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { fieldsOf, isRecord } from '../../base/index.js'
import { hasServer, removeServer } from './codex-server.js'
import { itemsAt, parseJson, valueOf } from './edit/json-edit.js'
import { type FileChange, inFile } from './plan.js'
import { configFolder, type Environment } from './config-paths.js'
import { type InstallRecord, recordAfter, type Records } from './record.js'
import { EVENTS, type Target } from './recipes.js'
import { type Edited, unedited, undone } from './edit/text-edit.js'
import { addTrust, removeTrust, type Trust } from './edit/toml-edit.js'

const DEFAULT_TIMEOUT = 600

/** Also for hooks of a project, which are trusted by a person. */
export function trustFile(environment: Environment): string {
  return join(configFolder('codex', { type: 'user' }, environment), 'config.toml')
}

/** What trust in our hooks is, as they stand in the text of a hooks file. */
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
  /** The file that the hooks are in. */
  readonly hooksFile: string
  readonly trusts: readonly Trust[]
  readonly records: Records
}

/** Undefined if all of it is noted already. */
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
      .reduce<Edited>(removeTrust, unedited(text ?? ''))
    const result = all.reduce<Edited>(addTrust, kept)
    if (result.text === text || trusts.length === 0) return undefined
    const after = recordAfter({ record, text, result, trusts: all })
    return { path, before: text, after: result.text, mode: 0o600, record: after }
  })
}

/** Takes the trust in all hooks of a file back, and our server out if that is to go too. */
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
    // What goes back to the byte takes everything of ours with it.
    const exact = record === undefined || !isLast ? undefined : undone(text, record.undo)
    const distrusted =
      exact === undefined ? gone.reduce<Edited>(removeTrust, unedited(text)) : unedited(exact)
    const result = isServerGone ? removeServer(distrusted) : distrusted
    if (result.text === text) return undefined
    // Without a record it was written by a version that kept none of it, if it is the server that was all there was.
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

/** Those of a project's hooks, while it is about the person's own, and the other way round. */
function otherTrusts(record: InstallRecord | undefined, hooksFile: string): readonly Trust[] {
  return (record?.trusts ?? []).filter(({ key }) => !key.startsWith(`${hooksFile}:`))
}

/** Codex hashes a group as JSON with sorted keys and its own defaults filled in. */
function hashOf(eventName: string, group: unknown): string {
  const { matcher, hooks } = fieldsOf(group)
  const filled = (Array.isArray(hooks) ? hooks : []).map((hook: unknown) => {
    const { timeout = DEFAULT_TIMEOUT, async = false, ...rest } = fieldsOf(hook)
    return { ...rest, timeout, async }
  })
  const canonical = JSON.stringify(sorted({ event_name: eventName, matcher, hooks: filled }))
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]),
  )
}
