// Rules in the configuration of agents that deny their tools access to the store, even without our hook.
import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative } from 'node:path'
import { type Environment, homeOf, pathBelow } from './config-paths.js'
import type { Recipe } from './recipes.js'

type Given = Pick<Recipe, 'scope' | 'environment' | 'storeHome'>

/** For Claude Code. A path of this machine does not belong in a file that a team shares. */
export function claudeRules({ scope, environment, storeHome }: Given): readonly string[] {
  const home = homeOf(environment)
  const folders = storeSpellings(storeHome, environment).flatMap((path) => {
    const inHome = pathBelow(home, path)
    if (inHome !== undefined) return [`~/${inHome}`]
    return scope.type === 'project' ? [] : [`/${path}`]
  })
  return folders.flatMap((folder) => [`Read(${folder}/**)`, `Edit(${folder}/**)`])
}

/** For Gemini CLI, in TOML. */
export function geminiRule({ environment, storeHome }: Given): string {
  const paths = storeSpellings(storeHome, environment).map((path) =>
    path.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`),
  )
  const path = paths.length === 1 ? paths.join() : `(?:${paths.join('|')})`
  return [
    '[[rule]]',
    'toolName = "*"',
    `argsPattern = ${JSON.stringify(`"(?:file_path|dir_path|path|absolute_path)":"${path}(?:/|")`)}`,
    'decision = "deny"',
    'priority = 900',
    '',
  ].join('\n')
}

/**
 * All paths of the store's folder: its real path, the one in SAVESTATE_HOME, and the one through a home that is a symbolic
 * link. Agents compare paths as text, so their rules need all of them.
 */
function storeSpellings(storeHome: string, environment: Environment): readonly string[] {
  const home = homeOf(environment)
  const given = environment['SAVESTATE_HOME'] ?? join(home, '.savestate')
  const real = existsSync(storeHome) ? realpathSync(storeHome) : storeHome
  const throughHome = existsSync(home) ? join(home, relative(realpathSync(home), real)) : real
  const others = [given, throughHome].filter(
    (path) => isAbsolute(path) && existsSync(path) && realpathSync(path) === real,
  )
  return [...new Set([storeHome, real, ...others])]
}
