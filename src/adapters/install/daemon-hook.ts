// Hooks that call the daemon instead of starting a program: for agents that have them.

export type DaemonAddress = {
  /** Where it listens, on loopback: `http://127.0.0.1:<port>`. */
  readonly url: string
  readonly token: string
}

/** An entry for Claude Code. Not for SessionStart, which it does not send this way. */
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
