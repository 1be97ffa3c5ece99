// When a caller may use the daemon: only if it would do the same work itself.
import { readlinkSync, statSync } from 'node:fs'
import { homedir } from 'node:os'

/** Every command, and the daemon, opens its store without the remote of the environment. */
const HARMLESS = new Set([
  'SAVESTATE_HOME',
  'SAVESTATE_PAGER',
  'SAVESTATE_REMOTE',
  'SAVESTATE_REMOTE_KEY',
  'SAVESTATE_REMOTE_KEY_FILE',
])

/** Any other SAVESTATE_ variable, such as a key, changes what a command does. Such callers bypass the daemon. */
export function bypassesDaemon(environment: NodeJS.ProcessEnv): boolean {
  return Object.keys(environment).some(
    (name) => name.startsWith('SAVESTATE_') && !HARMLESS.has(name),
  )
}

/**
 * Everything else that determines which files a save can read and what a path means. The daemon refuses callers whose
 * fingerprint differs from its own.
 */
export function environmentFingerprint(environment: NodeJS.ProcessEnv): string {
  return JSON.stringify([
    process.getuid?.() ?? null,
    process.getegid?.() ?? null,
    process.getgroups?.() ?? null,
    mountNamespace(),
    rootFolder(),
    homedir(),
    gitVariables(environment),
  ])
}

/** They determine git's configuration and attributes, and so how git converts files. */
function gitVariables(environment: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(environment)
    .flatMap(([name, value]) =>
      /^(?:XDG_CONFIG_HOME$|GIT_(?:CONFIG|ATTR)_)/.test(name) ? `${name}=${value}` : [],
    )
    .sort()
}

/** Differs in a container, where a path can mean another file. */
function mountNamespace(): string | null {
  if (process.platform !== 'linux') return null
  try {
    return readlinkSync('/proc/self/ns/mnt')
  } catch {
    // Without /proc, neither the caller nor the daemon can compare it.
    return null
  }
}

/** Differs after a chroot, which keeps the mount namespace. */
function rootFolder(): string {
  const { dev, ino } = statSync('/', { bigint: true })
  return `${dev} ${ino}`
}
