// Hooks that call the daemon instead of starting a program: for agents that have them.

export type DaemonAddress = {
  /** Where it listens, on loopback: `http://127.0.0.1:<port>`. */
  readonly url: string
  readonly token: string
}

/**
 * What comes often. The others stay commands: a hook that reaches no daemon fails without a word, and these start it
 * again, once in each turn, and make up for what was missed. (SessionStart could not go this way at all.)
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
