/** Where a `forget` is killed, and whether the path is forgotten then. */
export const FORGET_POINTS: Readonly<Record<string, boolean>> = {
  'forget:written': false,
  'forget:refs-beside': false,
  'forget:rows': true,
  'forget:refs': true,
}
