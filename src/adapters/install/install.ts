// Installs the hooks of an agent, and takes them out again: plans first, as data; written only when that was agreed to.
import { join } from 'node:path'
import { SavestateError, type Store } from '../../index.js'
import { AGENT_NAMES, type AgentName } from '../agents/event.js'
import { isAllowed, setAllowed } from '../guard/allowed.js'
import { planDistrust, planTrust, trustFile, trustsIn } from './codex-trust.js'
import { readConfig, removeFolders, writeConfig } from './config-file.js'
import { planServer } from './codex-server.js'
import type { DaemonAddress } from './daemon-hook.js'
import { hookProgram } from './hook-command.js'
import { type FileChange, type Plan, planInstall, planUninstall } from './plan.js'
import { mcpServer, takesServer } from './mcp-server.js'
import { configFolder, type Environment, programOnPath, type Scope } from './places.js'
import { readRecords, type Records, writeRecord } from './record.js'
import { type Recipe, targetsOf } from './recipes.js'

export type { FileChange, Plan } from './plan.js'
export { presentAgents } from './places.js'

export type InstallRequest = {
  readonly agent: AgentName
  readonly scope: Scope
  readonly environment: Environment
  /** The file of the program that is running. */
  readonly programPath: string
  readonly storeHome: string
  readonly strict?: boolean
  /** The agent may go back without a person. */
  readonly allowRewind?: boolean
  /** The agent is to start our MCP server. */
  readonly mcp?: boolean
  /** Where the daemon listens, for agents whose hooks can go there. */
  readonly daemon?: DaemonAddress
}

/** Of Codex: what follows once the hooks are written, and has to be asked for by itself. */
export type TrustPlan = { readonly change: FileChange; readonly hooks: number }

export async function planInstallOf(store: Store, request: InstallRequest): Promise<Plan> {
  const recipe = recipeOf(request)
  const targets = targetsOf(recipe)
  const { agent, scope, environment, allowRewind = false } = request
  const servers = codexServers(request)
  const records = await readRecords(store, [...paths(targets), servers])
  const { changes, notes } = planInstall(targets, records)
  const change = agent === 'codex' ? planServer(servers, recipe.server, records) : undefined
  const isMissed = request.mcp === true && !takesServer(agent, scope, environment)
  return {
    changes: change === undefined ? changes : [...changes, change],
    notes: isMissed ? [...notes, NO_SERVER] : notes,
    permission: await permissionChange(store, request, allowRewind),
  }
}

const NO_SERVER = 'we know of no place for the MCP server; docs/mcp.md says how to add it'

async function permissionChange(
  store: Store,
  request: InstallRequest,
  isWanted: boolean,
): Promise<Plan['permission']> {
  if ((await isAllowed(store, request)) === isWanted) return undefined
  return isWanted ? 'grant' : 'revoke'
}

/** To be planned after the hooks are written. Undefined if there is nothing to trust, or all of it is. */
export async function planTrustOf(
  store: Store,
  request: InstallRequest,
): Promise<TrustPlan | undefined> {
  if (request.agent !== 'codex') return undefined
  const [target] = targetsOf(recipeOf(request))
  if (target === undefined) return undefined
  const trusts = trustsIn(target, readConfig(target.path))
  const path = trustFile(request.environment)
  const records = await readRecords(store, [path])
  const change = planTrust({ path, hooksFile: target.path, trusts, records })
  return change === undefined ? undefined : { change, hooks: trusts.length }
}

/** Without a store: by the form of what is ours alone. */
export async function planUninstallOf(
  store: Store | undefined,
  request: InstallRequest,
): Promise<Plan> {
  const targets = targetsOf(recipeOf(request))
  const [trust, servers] = [trustFile(request.environment), codexServers(request)]
  const records: Records =
    store === undefined ? new Map() : await readRecords(store, [...paths(targets), trust, servers])
  const permission = store === undefined ? undefined : await permissionChange(store, request, false)
  const plan = { ...planUninstall(targets, records), permission }
  const [target] = targets
  if (request.agent !== 'codex' || target === undefined) return plan
  const trusts = trustsIn(target, readConfig(target.path))
  const isServerGone = servers === trust
  const hooksFile = target.path
  const changes = [
    planDistrust({ path: trust, hooksFile, trusts, records, isServerGone }),
    isServerGone ? undefined : planServer(servers, undefined, records),
  ]
  return { ...plan, changes: [...plan.changes, ...changes.filter((one) => one !== undefined)] }
}

export type FoundHooks = {
  readonly agent: AgentName
  /** `unreadable`: what is in its configuration cannot be told. */
  readonly found: 'installed' | 'unreadable'
}

/** The agents that have our hooks in a scope, by the form of what is there. Needs no store, and changes nothing. */
export async function findHooks(
  request: Omit<InstallRequest, 'agent'>,
): Promise<readonly FoundHooks[]> {
  const found: FoundHooks[] = []
  for (const agent of AGENT_NAMES) {
    try {
      const { changes } = await planUninstallOf(undefined, { ...request, agent })
      if (changes.length > 0) found.push({ agent, found: 'installed' })
    } catch (error) {
      // Malformed, closed to us, or no file at all: a report says so and goes on.
      const isTold =
        error instanceof SavestateError || (error instanceof Error && 'syscall' in error)
      if (!isTold) throw error
      found.push({ agent, found: 'unreadable' })
    }
  }
  return found
}

/** Without a store nobody is allowed anything. Throws CONFIG_INVALID. */
export async function applyPlan(
  store: Store | undefined,
  { request, plan }: { readonly request: InstallRequest; readonly plan: Plan },
): Promise<void> {
  await applyChanges(store, plan.changes, request.scope)
  if (store !== undefined && plan.permission !== undefined)
    await setAllowed(store, request, { isAllowed: plan.permission === 'grant' })
}

/** Throws CONFIG_INVALID, before it is written, for a file that has changed since it was planned. */
export async function applyChanges(
  store: Store | undefined,
  changes: readonly FileChange[],
  scope: Scope,
): Promise<void> {
  const paths = changes.map(({ path }) => path)
  const records: Records = store === undefined ? new Map() : await readRecords(store, paths)
  for (const change of changes) {
    const folders = written(change, scope)
    const known = records.get(change.path)
    const record = change.record && { ...change.record, folders: known?.folders ?? folders }
    if (store !== undefined) await writeRecord(store, change.path, record)
  }
  const emptied = changes.filter(({ after }) => after === undefined)
  removeFolders(emptied.flatMap(({ path }) => records.get(path)?.folders ?? []))
}

/** What is in a project is for all who work on it, what is in a home is for one. */
function written(change: FileChange, { type }: Scope): readonly string[] {
  const mode = type === 'project' ? change.mode : change.mode & 0o700
  return writeConfig({ ...change, mode, folderMode: type === 'project' ? 0o755 : 0o700 })
}

function recipeOf(given: InstallRequest): Recipe {
  const { programPath, strict = false, mcp = false, allowRewind = false, ...request } = given
  const { environment, scope } = request
  const command = { program: hookProgram(programPath, environment), strict }
  if (!mcp) return { ...request, command }
  const isOnPath = programOnPath('savestate', environment) !== undefined
  const program = isOnPath ? 'savestate' : programPath
  return { ...request, command, server: mcpServer({ program, allowRewind, scope, environment }) }
}

/** Where Codex has its servers. For a user it is where it has its trusts, too. */
function codexServers({ scope, environment }: InstallRequest): string {
  return join(configFolder('codex', scope, environment), 'config.toml')
}

function paths(targets: ReturnType<typeof targetsOf>): readonly string[] {
  return targets.map(({ path }) => path)
}
