// The sizes that docs/guide/operations.md gives an administrator are what the script computes, and its arithmetic is right.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

function fleetSize(inputs: Readonly<Record<string, number>>): string {
  const args = Object.entries(inputs).flatMap(([name, value]) => [`--${name}`, String(value)])
  return execFileSync(process.execPath, ['scripts/fleet-size.mjs', ...args], { encoding: 'utf8' })
}

test('fleet-size.mjs multiplies its inputs with the cost of each row', () => {
  const inputs = { agents: 100, steps: 10, tools: 5, saves: 2, 'step-kb': 1, 'save-kb': 5 }
  const lines = fleetSize({ ...inputs, sessions: 3, 'open-hours': 8, days: 10 }).split('\n')
  const line = (name: string) => lines.find((text) => text.startsWith(`${name} `))
  const [commits, renewals] = [100 * (10 + 2 * 5), (100 * 8 * 3600) / 10]
  const [segmentBytes, packBytes] = [100 * (10 * 1000 + 2 * 5 * 400), 100 * 2 * 5000]
  const wal = commits * 880 + segmentBytes + packBytes * 1.2 + renewals * 130
  const [segments, checkpoints] = [commits * 230 + segmentBytes, 100 * 10 * 210]
  const packs = 100 * 2 * 400 + packBytes * 1.37
  const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  expect(line('commits')).toContain(`${commits.toLocaleString('en')} per day`)
  expect(line('renewals')).toContain(
    `up to ${renewals.toLocaleString('en')} per day, 10 per second`,
  )
  expect(line('WAL')).toContain(`${mb(wal)} per day, plus up to ${mb(100 * 5 * 8192 * 96)}`)
  expect(line('network')).toContain(`${mb(segmentBytes + packBytes)} per day`)
  expect(line('storage')).toContain(`${mb(segments + checkpoints + packs)} per day`)
  expect(line('segments')).toMatch(
    `2,000 rows per day; 20,000 rows, ${mb(10 * segments)} in 10 days`,
  )
  expect(line('checkpoints')).toMatch(
    `1,000 rows per day; 10,000 rows, ${mb(10 * checkpoints)} in 10`,
  )
  expect(line('packs')).toMatch(`200 rows per day; 2,000 rows, ${mb(10 * packs)} in 10 days`)
  expect(line('logs')).toMatch('300 rows per day; 3,000 rows, 750.0 KB in 10 days')
  expect(line('live')).toMatch('300 rows per day; 3,000 rows, 3.0 MB in 10 days')
  expect(lines.join()).toContain('logs and live grow by 300 rows per day and never shrink')
})

test('fleet-size.mjs counts the cores for commits and renewals, and splits each table as it can be split', () => {
  const output = fleetSize({ agents: 1e6, steps: 100, tools: 0, saves: 100, days: 30 })
  // (1e8 commits / 86,400 s x 4 at peak + 1e6 / 10 s) / 1,700 per core and second
  expect(output).toContain(`about ${Math.ceil(((1e8 / 86_400) * 4 + 1e5) / 1700)} busy`)
  expect(output).toMatch(/^segments .*: 32 partitions by hash of log, or a schema per team$/m)
  expect(output).toMatch(/^packs .*: 256 schemas, one per team$/m)
})

test('the figures of operations.md are those of the script', () => {
  const output = fleetSize({})
  const page = readFileSync('docs/guide/operations.md', 'utf8')
  const row = (name: string) =>
    page.split('\n').find((text) => new RegExp(`^\\| \`?${name}\`? +\\|`).test(text))
  for (const [name, computed, stated] of [
    [
      'commits',
      '13,000,000 per day; 150 per second on average, 602',
      '13 million, 150 per second, 600',
    ],
    [
      'renewals',
      'up to 86,400,000 per day, 1,000 per second',
      'up to 86 million, 1,000 per second',
    ],
    ['WAL', '34.5 GB per day, plus up to 39.3 GB', '35 GB, plus up to 39 GB'],
    ['network', '11.2 GB per day', '11 GB'],
    ['storage', '16.6 GB per day; 496.5 GB for 30 days', '17 GB; 500 GB for 30 days'],
    [
      'segments',
      '13,000,000 rows per day; 390,000,000 rows, 335.7 GB',
      '13 million, one per commit    | 390 million, 336 GB ',
    ],
    [
      'checkpoints',
      '5,000,000 rows per day; 150,000,000 rows, 31.5 GB',
      '5 million, one per step       | 150 million, 32 GB ',
    ],
    [
      'packs',
      '500,000 rows per day; 15,000,000 rows, 129.3 GB',
      '0.5 million, one per save of files | 15 million, 129 GB ',
    ],
  ] as const) {
    expect(output).toMatch(new RegExp(`^${name} +${computed}`, 'm'))
    expect(row(name)).toContain(stated)
  }
})
