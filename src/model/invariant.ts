/** For our own bugs: claims that hold unless this program is wrong. The world gets a SavestateError. */
export function invariant(claim: unknown, text: string): asserts claim {
  if (!claim) throw new Error(`Bug in savestate: ${text}`)
}
