/** Failpoints of `forget`, and whether the path is forgotten after a kill there. */
export const FORGET_POINTS: Readonly<Record<string, boolean>> = {
  'forget:written': false,
  'commits:refs-beside': false,
  'commits:rows': true,
  'commits:refs': true,
}
