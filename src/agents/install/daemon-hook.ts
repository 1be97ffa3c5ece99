// HTTP hooks, which call the daemon instead of starting a program.

export type DaemonAddress = {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  readonly token: string
}

/**
 * The frequent events. The others stay commands: an HTTP hook fails silently without a daemon, so at least one command per turn
 * restarts the daemon and saves what was missed. (Claude Code does not support HTTP for SessionStart.)
 */
export const DAEMON_EVENTS: readonly string[] = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'SubagentStop',
  'PreCompact',
]

/** An entry for Claude Code. */
export function daemonHook(
  { url, token }: DaemonAddress,
  { event, timeoutSeconds }: { readonly event: string; readonly timeoutSeconds: number },
): Readonly<Record<string, unknown>> {
  return {
    type: 'http',
    url: `${url}/v1/hook/claude/${event}`,
    headers: { Authorization: `Bearer ${token}` },
    timeout: timeoutSeconds,
  }
}
