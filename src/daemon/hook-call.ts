// An event of an agent that comes over HTTP, and what is answered.

export type HookCall = {
  /** As in the address; not checked yet. */
  readonly agent: string
  readonly eventName: string
  /** What the agent sent; undefined if it was more than anybody sends. */
  readonly input: string | undefined
}

/** What a hook that is a command would print; empty: go on. Undefined if there is no such agent. It never fails. */
export type HookRunner = (call: HookCall) => Promise<string | undefined>

/** Agents send whole files and the output of commands. */
export const MAX_INPUT_BYTES = 32 << 20

/** Undefined for another address. */
export function hookAddress(path: string): Omit<HookCall, 'input'> | undefined {
  const [, agent, eventName] = /^\/v1\/hook\/([a-z]{1,40})\/([\w.]{1,100})$/.exec(path) ?? []
  return agent === undefined || eventName === undefined ? undefined : { agent, eventName }
}
