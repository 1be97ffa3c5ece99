// Doubts of docs/internals/watching.md that the system causes: mounts and the limit of watches.
import { expect, test } from 'vitest'
import { scratch } from '../../support/scratch.js'
import { SYSTEMS, whereSystemDoes } from './watch-helpers.js'

const FILES = { a: '1', 'b/c': '2', 'b/d/e': '3', 'f/g/h/i': '4' }

type Told = {
  readonly doubt: string | null
  readonly fullScans: number
  readonly isWatching: boolean
}
type Forced = readonly [name: string, body: string, told: readonly Told[]]

const MOUNT: Forced = [
  'mount changed: something was mounted inside, and unmounted',
  `
  await tell()
  mount(path + '/b/d')
  fs.writeFileSync(path + '/b/d/inside', 'x')
  await tell()
  fs.writeFileSync(path + '/b/d/inside', 'y')
  await tell()
  unmount(path + '/b/d')
  await tell()
  fs.writeFileSync(path + '/b/d/e', 'changed')
  await tell()
  `,
  [0, 1, 1, 2, 2].map((fullScans) => ({
    doubt: fullScans === 0 ? null : 'mount-changed',
    fullScans,
    isWatching: true,
  })),
]

const LIMIT: Forced = [
  'watch limit: full scans until the next attempt',
  `
  limit(3)
  await tell()
  fs.writeFileSync(path + '/b/d/e', 'changed')
  await tell()
  limit(500)
  fs.writeFileSync(path + '/b/d/e', 'changed again')
  await tell()
  const now = performance.now.bind(performance)
  performance.now = () => now() + 6 * 60_000
  await tell()
  fs.writeFileSync(path + '/b/d/e', 'quick')
  await tell()
  for (let i = 0; i < 500; i++) fs.mkdirSync(path + '/many/' + i, { recursive: true })
  await tell()
  `,
  (
    [
      [1, false],
      [1, false],
      [1, false],
      [1, true],
      [1, true],
      [2, false],
    ] as const
  ).map(([fullScans, isWatching]) => ({ doubt: 'watch-limit', fullScans, isWatching })),
]

/** As many watches as the project has folders, and none for the cookie. */
const NO_MORE: Forced = [
  'watch limit: none is left for the cookie',
  `
  limit(6)
  await tell()
  fs.writeFileSync(path + '/b/d/e', 'changed')
  await tell()
  `,
  [1, 1].map((fullScans) => ({ doubt: 'watch-limit', fullScans, isWatching: false })),
]

const cases = SYSTEMS.flatMap((system) =>
  [MOUNT, LIMIT, NO_MORE].map(([name, body, told]) => [name, system, body, told] as const),
)

test.each(cases)('%s (by the %s)', async (_, system, body, told) => {
  await using s = await scratch({ files: FILES })
  const expected = told.map((watch) => ({ isSame: true, ...watch }))
  expect(whereSystemDoes(system, s, body)).toEqual(expected)
})
