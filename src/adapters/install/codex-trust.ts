// Codex runs a hook only if the person has trusted exactly this hook: its file, its place in it, and a hash of what it
// runs, noted in Codex' own config.toml. Written only after the person was asked for that.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { recordOf } from '../agents/payload.js'
import { itemsAt, parseJson, valueOf } from './json-edit.js'
import { type FileChange, inFile } from './plan.js'
import { configFolder, type Environment } from './places.js'
import type { InstallRecord, Records } from './record.js'
import { EVENTS, type Target } from './recipes.js'
import { type Edited, unedited, undone, undoOf } from './text-edit.js'
import { addTrust, removeTrust, type Trust } from './toml-edit.js'

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
    const old = text ?? ''
    const base = record === undefined ? undefined : undone(old, record.undo)
    const all = [...otherTrusts(record, hooksFile), ...trusts]
    const result = all.reduce<Edited>(addTrust, unedited(base ?? old))
    if (result.text === text || trusts.length === 0) return undefined
    const isCreated = text === undefined || (base !== undefined && record?.isCreated === true)
    const kept = { undo: undoOf(result), isCreated, made: [], trusts: all }
    return { path, before: text, after: result.text, mode: 0o600, record: kept }
  })
}

/** Takes the trust in all hooks of a file back. */
export function planDistrust({
  path,
  hooksFile,
  trusts,
  records,
}: TrustRequest): FileChange | undefined {
  return inFile(path, (text) => {
    if (text === undefined) return undefined
    const record = records.get(path)
    const others = otherTrusts(record, hooksFile)
    const exact = record === undefined ? undefined : undone(text, record.undo)
    const gone = [...(record?.trusts ?? []), ...trusts].filter((trust) => !others.includes(trust))
    const result =
      exact === undefined
        ? gone.reduce<Edited>(removeTrust, unedited(text))
        : others.reduce<Edited>(addTrust, unedited(exact))
    if (result.text === text) return undefined
    const isCreated = record?.isCreated === true
    const isEmpty = isCreated && result.text.trim() === ''
    return {
      path,
      before: text,
      after: isEmpty ? undefined : result.text,
      mode: 0o600,
      record:
        others.length === 0
          ? undefined
          : { undo: undoOf(result), isCreated, made: [], trusts: others },
    }
  })
}

/** Those of a project's hooks, while it is about the person's own, and the other way round. */
function otherTrusts(record: InstallRecord | undefined, hooksFile: string): readonly Trust[] {
  return (record?.trusts ?? []).filter(({ key }) => !key.startsWith(`${hooksFile}:`))
}

/** Codex hashes a group as JSON with sorted keys and its own defaults filled in. */
function hashOf(eventName: string, group: unknown): string {
  const { matcher, hooks } = recordOf(group) ?? {}
  const filled = (Array.isArray(hooks) ? hooks : []).map((hook: unknown) => {
    const { timeout = DEFAULT_TIMEOUT, async = false, ...rest } = recordOf(hook) ?? {}
    return { ...rest, timeout, async }
  })
  const canonical = JSON.stringify(sorted({ event_name: eventName, matcher, hooks: filled }))
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  const fields = recordOf(value)
  if (fields === undefined) return value
  const entries = Object.entries(fields).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]),
  )
}
