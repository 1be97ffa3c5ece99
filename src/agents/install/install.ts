// Installs and uninstalls the hooks of an agent. Planning changes nothing; the caller applies a plan after the user agreed.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { AGENT_NAMES, type AgentName } from '../../base/index.js'
import { SavestateError, type Store } from '../../index.js'
import { isAllowed, setAllowed } from '../guard/allowed.js'
import { codexConfig, planDistrust, planServer, planTrust, trustsIn } from './codex-config.js'
import { expectInside, readConfig, removeFolders, writeConfig } from './edit/config-file.js'
import { FAILS_OPEN } from './hook-command.js'
import { lastingProgram, launcherPath, writeLauncher } from './launcher.js'
import { type FileChange, type Plan, planInstall, planUninstall } from './plan.js'
import { mcpServer, takesServer } from './mcp-server.js'
import type { Environment, Scope } from './config-paths.js'
import { readRecords, recordHttp, type Records, writeRecord } from './record.js'
import { type DaemonAddress, type Recipe, listTargets } from './recipes.js'
import { trustedHash } from './edit/toml-edit.js'

export type { FileChange, Plan } from './plan.js'
export { type LauncherState, launcherState } from './launcher.js'
export { presentAgents } from './config-paths.js'

export type InstallRequest = {
  readonly agent: AgentName
  readonly scope: Scope
  readonly environment: Environment
  /** The file of the running program, and its Node. */
  readonly programPath: string
  readonly nodePath: string
  readonly storeHome: string
  readonly strict?: boolean
  /** The agent may rewind. */
  readonly allowRewind?: boolean
  /** Also add our MCP server. */
  readonly mcp?: boolean
  /** The address of the daemon, for agents with HTTP hooks. */
  readonly daemon?: DaemonAddress
}

/** For Codex: the second step after writing the hooks, with its own question. */
export type TrustPlan = { readonly change: FileChange; readonly hooks: number }

/** Throws BAD_INPUT for a program that npx will remove, CONFIG_INVALID for a configuration that cannot be read. */
export async function planInstallOf(store: Store, request: InstallRequest): Promise<Plan> {
  if (request.scope.type === 'user') lastingProgram(request)
  const recipe = makeRecipe(request)
  const targets = listTargets(recipe)
  const { agent, scope, environment, allowRewind = false } = request
  const servers = codexConfig(request.scope, request.environment)
  expectAllInside([...paths(targets), servers], scope)
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

const NO_SERVER = 'the MCP server was not added; docs/guide/mcp.md shows how to add it by hand'

async function permissionChange(
  store: Store,
  request: InstallRequest,
  isWanted: boolean,
): Promise<Plan['permission']> {
  if ((await isAllowed(store, request)) === isWanted) return undefined
  return isWanted ? 'grant' : 'revoke'
}

/** Call it after the hooks are written. Undefined if there is nothing left to trust. */
export async function planTrustOf(
  store: Store,
  request: InstallRequest,
): Promise<TrustPlan | undefined> {
  if (request.agent !== 'codex') return undefined
  const [target] = listTargets(makeRecipe(request))
  if (target === undefined) return undefined
  const trusts = trustsIn(target, readConfig(target.path))
  const path = codexConfig({ type: 'user' }, request.environment)
  const records = await readRecords(store, [path])
  const change = planTrust({ path, hooksFile: target.path, trusts, records })
  return change === undefined ? undefined : { change, hooks: trusts.length }
}

/** Without a store, finds our entries by their form only. */
export async function planUninstallOf(
  store: Store | undefined,
  request: InstallRequest,
): Promise<Plan> {
  const targets = listTargets(makeRecipe(request))
  const [trust, servers] = [
    codexConfig({ type: 'user' }, request.environment),
    codexConfig(request.scope, request.environment),
  ]
  expectAllInside([...paths(targets), servers].filter(existsSync), request.scope)
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
  /** `outdated`: hooks of an older version, which depend on PATH. `unreadable`: the configuration cannot be read. */
  readonly found: 'installed' | 'outdated' | 'unreadable'
  /** Codex only: the user has trusted them, so Codex runs them. */
  readonly trusted?: boolean
}

/** Finds the agents with our hooks in a scope, by the form of the entries. Needs no store, and changes nothing. */
export async function findHooks(
  request: Omit<InstallRequest, 'agent'>,
): Promise<readonly FoundHooks[]> {
  const found: FoundHooks[] = []
  for (const agent of AGENT_NAMES) {
    try {
      const { changes } = await planUninstallOf(undefined, { ...request, agent })
      const isCurrent = changes.some(({ before }) => before?.includes(FAILS_OPEN))
      if (changes.length === 0) continue
      const trusted = agent === 'codex' ? { trusted: isTrusted({ ...request, agent }) } : {}
      found.push({ agent, found: isCurrent ? 'installed' : 'outdated', ...trusted })
    } catch (error) {
      // Malformed, not accessible, or not a file: report it and check the next agent.
      const isExpected =
        error instanceof SavestateError || (error instanceof Error && 'syscall' in error)
      if (!isExpected) throw error
      found.push({ agent, found: 'unreadable' })
    }
  }
  return found
}

/** Whether Codex trusts all our hooks in their current form. */
function isTrusted(request: InstallRequest): boolean {
  const [target] = listTargets(makeRecipe(request))
  if (target === undefined) return true
  const noted = readConfig(codexConfig({ type: 'user' }, request.environment)) ?? ''
  return trustsIn(target, readConfig(target.path)).every(
    ({ key, hash }) => trustedHash(noted, key) === hash,
  )
}

type Planned = { readonly request: InstallRequest; readonly plan: Plan }

/** Writes the launcher first: a hook must not run before it exists. Throws CONFIG_INVALID. */
export async function applyInstall(store: Store, planned: Planned): Promise<void> {
  const { request } = planned
  if (request.scope.type === 'user') writeLauncher({ ...request, hookFiles: hookFiles(request) })
  await applyPlan(store, planned, { isHttp: request.daemon !== undefined })
}

/** Without a store there are no records and no permissions to change. Throws CONFIG_INVALID. */
export async function applyUninstall(store: Store | undefined, planned: Planned): Promise<void> {
  await applyPlan(store, planned, { isHttp: false })
}

async function applyPlan(
  store: Store | undefined,
  { request, plan }: Planned,
  { isHttp }: { readonly isHttp: boolean },
): Promise<void> {
  const [target] = listTargets(makeRecipe(request))
  // Before the hooks are written: a port without hooks is harmless, hooks without a port would fail.
  if (store !== undefined && isHttp && target !== undefined)
    await recordHttp(store, { path: target.path, isUsed: true })
  await applyChanges(store, plan.changes, request.scope)
  if (store === undefined) return
  if (!isHttp && target !== undefined) await recordHttp(store, { path: target.path, isUsed: false })
  if (plan.permission !== undefined)
    await setAllowed(store, request, { isAllowed: plan.permission === 'grant' })
}

/** Throws CONFIG_INVALID, without writing the file, if it has changed since the plan. */
export async function applyChanges(
  store: Store | undefined,
  changes: readonly FileChange[],
  scope: Scope,
): Promise<void> {
  const paths = changes.map(({ path }) => path)
  const records: Records = store === undefined ? new Map() : await readRecords(store, paths)
  for (const change of changes) {
    const folders = writeChange(change, scope)
    const known = records.get(change.path)
    const record = change.record && { ...change.record, folders: known?.folders ?? folders }
    if (store !== undefined) await writeRecord(store, change.path, record)
  }
  const emptied = changes.filter(({ after }) => after === undefined)
  removeFolders(emptied.flatMap(({ path }) => records.get(path)?.folders ?? []))
}

/** Files in a project keep the usual mode; files in a home are only for the user. */
function writeChange(change: FileChange, scope: Scope): readonly string[] {
  // Check again: the link may have been created while the question was open.
  expectAllInside([change.path], scope)
  const { type } = scope
  const mode = type === 'project' ? change.mode : change.mode & 0o700
  return writeConfig({ ...change, mode, folderMode: type === 'project' ? 0o755 : 0o700 })
}

function expectAllInside(targets: readonly string[], scope: Scope): void {
  if (scope.type === 'project') for (const path of targets) expectInside(path, scope.root)
}

function makeRecipe(given: InstallRequest): Recipe {
  const { strict = false, mcp = false, allowRewind = false, ...request } = given
  const { environment, scope, storeHome } = request
  // A path of this machine does not belong in a file that a team shares.
  const launcher = scope.type === 'project' ? undefined : launcherPath(storeHome)
  const recipe = { ...request, command: { launcher, strict } }
  if (!mcp) return recipe
  const program = launcher ?? 'savestate'
  return { ...recipe, server: mcpServer({ program, allowRewind, scope, environment }) }
}

/** The file with the hooks of each agent, in the user's scope. */
function hookFiles(request: InstallRequest): ReadonlyMap<AgentName, string> {
  const scope = { type: 'user' } as const
  return new Map(
    AGENT_NAMES.flatMap((agent) => {
      const [target] = listTargets(makeRecipe({ ...request, agent, scope }))
      if (target === undefined) return []
      // Cline has a file for each hook.
      return [[agent, agent === 'cline' ? dirname(target.path) : target.path]]
    }),
  )
}

function paths(targets: ReturnType<typeof listTargets>): readonly string[] {
  return targets.map(({ path }) => path)
}
