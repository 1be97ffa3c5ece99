/**
 * The commands that the daemon runs for callers; served.ts checks their options. None of them removes or overwrites
 * anything in a project: a caller in a sandbox can reach the socket, so the daemon must not do what the sandbox forbids.
 */
export const SERVED_NAMES = ['hook', 'save', 'status'] as const
