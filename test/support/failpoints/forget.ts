/** Where a `forget` is killed, and whether the path is forgotten then. */
export const FORGET_POINTS: Readonly<Record<string, boolean>> = {
  'forget:written': false,
  'commits:refs-beside': false,
  'commits:rows': true,
  'commits:refs': true,
}
