// The launcher: a small shell script in the store that agents' hooks run instead of `savestate`, so that they do not depend
// on PATH. It finds the installed program, even if it has moved. If there is none, the agent continues and the launcher
// reports that once a day: docs/decisions/0031-launcher.md.
import { execFileSync } from 'node:child_process'
import { existsSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { SavestateError } from '../../index.js'
import { readConfig, writeConfig } from './edit/config-file.js'
import { launcherScript, type LauncherValues, NOTICE } from './launcher-script.js'
import { type Environment, programOnPath } from './config-paths.js'

const LAUNCHER_NAME = 'savestate-hook'

export function launcherPath(storeHome: string): string {
  return join(storeHome, 'bin', LAUNCHER_NAME)
}

type LauncherInput = {
  readonly storeHome: string
  readonly environment: Environment
  /** The file of the running program. */
  readonly programPath: string
  /** The real path of its Node. */
  readonly nodePath: string
  readonly hookFiles: LauncherValues['hookFiles']
}

/** Writes the launcher unless it is up to date. Throws BAD_INPUT for a program that npx will remove. */
export function writeLauncher(input: LauncherInput): void {
  const path = launcherPath(input.storeHome)
  const { SAVESTATE_HOME: home } = input.environment
  const after = launcherScript({
    node: lastingNode(input),
    program: lastingProgram(input),
    home: home !== undefined && isAbsolute(home) ? home : undefined,
    hookFiles: input.hookFiles,
  })
  const before = readConfig(path)
  if (before !== after) writeConfig({ path, before, after, mode: 0o700, folderMode: 0o700 })
  rmSync(join(input.storeHome, 'bin', NOTICE), { force: true })
}

/** The path on PATH, if it leads to this Node: an update of Node may remove the folder of the old version. */
function lastingNode({ nodePath, environment }: LauncherInput): string {
  const onPath = programOnPath('node', environment)
  const isSame = onPath !== undefined && realpathSync(onPath) === nodePath
  return isSame ? beyondShell(onPath) : nodePath
}

/** Throws BAD_INPUT for a program that npx will remove. */
export function lastingProgram({
  programPath,
  environment,
}: Pick<LauncherInput, 'programPath' | 'environment'>): string {
  if (!/[\\/]_npx[\\/]/.test(programPath)) return beyondShell(programPath)
  const onPath = programOnPath('savestate', environment)
  if (onPath !== undefined && !/[\\/]_npx[\\/]/.test(onPath)) return beyondShell(onPath)
  throw new SavestateError('BAD_INPUT', 'Savestate runs from a folder that npx will remove', {
    hint: 'Install it permanently first: npm install -g savestate',
  })
}

/** fnm puts a link to the folder of a Node version on PATH and removes it when the shell ends. */
function beyondShell(path: string): string {
  if (!path.includes('/fnm_multishells/')) return path
  return join(realpathSync(dirname(path)), basename(path))
}

export type LauncherState = {
  readonly path: string
  readonly exists: boolean
  /** The command that it starts; null if it finds no Savestate. */
  readonly starts: readonly string[] | null
  /** Files that the install recorded and that no longer exist. */
  readonly gone: readonly string[]
}

/** With the PATH of this process; that of an agent may differ. */
export function launcherState(storeHome: string, environment: Environment): LauncherState {
  const path = launcherPath(storeHome)
  const text = readConfig(path)
  if (text === undefined) return { path, exists: false, starts: null, gone: [] }
  const recorded = ['node', 'program'].flatMap((name) => {
    const [, quoted] = new RegExp(`^${name}='(.*)'$`, 'm').exec(text) ?? []
    return quoted === undefined ? [] : [quoted.replaceAll(String.raw`'\''`, "'")]
  })
  const gone = recorded.filter((file) => !existsSync(file))
  return { path, exists: true, starts: startedBy(path, environment), gone }
}

function startedBy(path: string, env: Environment): readonly string[] | null {
  try {
    const output = execFileSync(path, ['--which'], { env, encoding: 'utf8', stdio: 'pipe' })
    return output.trimEnd().split('\n')
  } catch (error) {
    // Exit code 1: it found none. Any other failure (not executable, no /bin/sh) has the same effect on a hook.
    if (error instanceof Error && ('status' in error || 'code' in error)) return null
    throw error
  }
}
