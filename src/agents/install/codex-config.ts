// Our entries in Codex's config.toml: our MCP server, and the records of trusted hooks. Codex runs a hook only if the user has
// trusted exactly this hook: its file, its position in it, and a hash of its command. We write these records only after asking
// the user. Each plan starts from the text without our entries and adds all that belong in it.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { fieldsOf, isRecord } from '../../base/index.js'
import { configFolder, type Environment, type Scope } from './config-paths.js'
import { itemsAt, parseJson, valueOf } from './edit/json-edit.js'
import { NO_UNDO, recordUndo, undoEdits } from './edit/text-edit.js'
import {
  addServer,
  addTrust,
  hasServer,
  removeServer,
  removeTrust,
  serverLines,
  type Trust,
  trustedHash,
} from './edit/toml-edit.js'
import type { McpServer } from './mcp-server.js'
import { type FileChange, inFile, NO_PARTS } from './plan.js'
import type { Records } from './record.js'
import { EVENTS, type Target } from './recipes.js'

const DEFAULT_TIMEOUT = 600

/** Trust belongs to the user, also for hooks of a project; a server belongs to a scope. */
export function codexConfig(scope: Scope, environment: Environment): string {
  return join(configFolder('codex', scope, environment), 'config.toml')
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

/** Our entries in a file. */
type Entries = {
  readonly trusts: readonly Trust[]
  /** The lines of our server. */
  readonly server: readonly string[] | undefined
}

type ConfigRequest = {
  readonly path: string
  readonly records: Records
  /** The entries that the file should have, given those that it has. */
  readonly change: (known: Entries) => Entries
  /** Records that a lost store may have forgotten. */
  readonly others?: readonly Trust[]
}

/** Without a server, plans its removal. */
export function planServer(
  path: string,
  server: McpServer | undefined,
  records: Records,
): FileChange | undefined {
  const lines = server === undefined ? undefined : tableOf(server)
  const planned = planConfig({
    path,
    records,
    change: ({ trusts }) => ({ trusts, server: lines }),
  })
  if (planned === undefined || server === undefined) return planned
  return { ...planned, holds: { ...NO_PARTS, servers: 1 } }
}

type TrustRequest = Pick<ConfigRequest, 'path' | 'records'> & {
  /** The file with the hooks. */
  readonly hooksFile: string
  readonly trusts: readonly Trust[]
}

/** Undefined if all hooks are trusted already. */
export function planTrust({ hooksFile, trusts, ...request }: TrustRequest): FileChange | undefined {
  return planConfig({
    ...request,
    change: ({ trusts: known, server }) => ({
      trusts: [...ofOtherFiles(known, hooksFile), ...trusts],
      server,
    }),
  })
}

/** Removes the trust in all hooks of a file, and our MCP server with `isServerGone`. */
export function planDistrust({
  hooksFile,
  trusts,
  isServerGone,
  ...request
}: TrustRequest & { readonly isServerGone: boolean }): FileChange | undefined {
  return planConfig({
    ...request,
    others: trusts,
    change: ({ trusts: known, server }) => ({
      trusts: ofOtherFiles(known, hooksFile),
      server: isServerGone ? undefined : server,
    }),
  })
}

/** Records for hooks in other files: those of a project, or the user's own. */
function ofOtherFiles(trusts: readonly Trust[], hooksFile: string): readonly Trust[] {
  return trusts.filter(({ key }) => !key.startsWith(`${hooksFile}:`))
}

function planConfig({ path, records, change, others = [] }: ConfigRequest): FileChange | undefined {
  return inFile(path, (before) => {
    const text = before ?? ''
    const record = records.get(path)
    const isTrusted = ({ key, hash }: Trust) => trustedHash(text, key) === hash
    // A record that is no longer in the file was revoked: only the user may trust the hook again.
    const trusted = [...(record?.trusts ?? []), ...others].filter(isTrusted)
    const known = { trusts: trusted, server: serverLines(text) }
    const { trusts, server } = change(known)
    const isStale = ({ key, hash }: Trust) =>
      !trusts.some((one) => one.key === key && one.hash === hash)
    const isServed =
      server === undefined
        ? known.server === undefined
        : hasServer(text) && isDeepStrictEqual(known.server ?? server, server)
    const stale = known.trusts.filter(isStale)
    if (isServed && trusts.every(isTrusted) && stale.length === 0) return undefined
    const exact = undoEdits(text, record?.undo)
    // In a file that has changed since, entries that stay are not touched: the user may have added keys to our server.
    const cleaned = stale.reduce(removeTrust, text)
    const start = exact ?? (isServed ? cleaned : removeServer(cleaned))
    const withTrusts = trusts.reduce(addTrust, start)
    const after = server === undefined ? withTrusts : addServer(withTrusts, server)
    // An exact undo would keep entries that are in the text before it.
    const isClean =
      serverLines(start) === undefined &&
      trusts.every(({ key, hash }) => trustedHash(start, key) !== hash)
    const isNothing = trusts.length === 0 && server === undefined
    // Without a record, a file that contained only our server was written by an older version, or the store was lost.
    const isCreated = record?.isCreated ?? (before === undefined || known.server !== undefined)
    return {
      path,
      before,
      after: isNothing && isCreated && after.trim() === '' ? undefined : after,
      mode: 0o600,
      record: isNothing
        ? undefined
        : { undo: isClean ? recordUndo(start, after) : NO_UNDO, isCreated, made: [], trusts },
    }
  })
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
