/** For conditions that only a bug in this program can break. All other failures throw a SavestateError. */
export function invariant(claim: unknown, text: string): asserts claim {
  if (!claim) throw new Error(`Bug in savestate: ${text}`)
}
