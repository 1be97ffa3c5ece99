// Computes what a fleet writes to PostgreSQL per day: rows, WAL, storage (docs/guide/operations.md#sizing).
//
//   node scripts/fleet-size.mjs [--agents 10000] [--steps 500] [--tools 400] [--saves 50] [--step-kb 1] [--save-kb 6]
//     [--sessions 1] [--open-hours 24] [--days 30]
//
// Per agent and day: --steps are checkpoints with state, --tools are tool calls (two commits each), --saves are those of the steps that
// have changed files; --step-kb and --save-kb are what one step and one such save send, compressed; --sessions are
// new sessions; --open-hours is how long a session is open. --days: how long history is kept.
import { parseArgs } from 'node:util'

/**
 * Measured on PostgreSQL 15 with 1,000 commits each, far from a checkpoint of the server: one commit of a sealed segment of 975 bytes
 * writes 1,856 bytes of WAL; with a pack of 6,000 bytes, 9,094; one renewal of a lease, 130.
 */
const WAL = { perCommit: 880, perSegmentByte: 1, perPackByte: 1.2, perRenewal: 130 }
/** On disk, after a vacuum: rows, their indexes, and TOAST. */
const DISK = {
  perCommit: 230,
  perCheckpoint: 210,
  perSegmentByte: 1,
  perPack: 400,
  perPackByte: 1.37,
  perLog: 250,
  perLive: 1000,
}
/** A session that commits nothing renews its lease every 10 to 15 seconds (lease-heartbeat.ts). */
const RENEWAL_SECONDS = 10
/** After each checkpoint of the server the first change of a page writes all of it; a session changes about so many. */
const PAGES_PER_SESSION = 5
const PAGE_BYTES = 8192
const CHECKPOINTS_PER_DAY = 24 * 4
/** The busiest hour has so many times the average. */
const PEAK = 4
/** Larger tables are slower to vacuum and to back up than they need to be. */
const PARTITION_ROWS = 200e6
const PARTITION_BYTES = 200e9
/** One statement at a time, one core of the server, with fsync. */
const COMMITS_PER_SECOND = 1700

const DEFAULTS = {
  agents: 10_000,
  steps: 500,
  tools: 400,
  saves: 50,
  'step-kb': 1,
  'save-kb': 6,
  sessions: 1,
  'open-hours': 24,
  days: 30,
}

const { values } = parseArgs({
  options: Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, { type: 'string' }])),
})
console.log(report(readInput(values)))

function readInput(given) {
  return Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, usual]) => {
      const number = Number(given[name] ?? usual)
      if (!Number.isFinite(number) || number < 0) throw new Error(`--${name} takes a number`)
      return [name, number]
    }),
  )
}

function report(input) {
  const { agents, steps, tools, saves, sessions, days } = input
  const [stepBytes, saveBytes] = [input['step-kb'] * 1000, input['save-kb'] * 1000]
  const commits = agents * (steps + 2 * tools)
  const segmentBytes = agents * (steps * stepBytes + 2 * tools * 0.4 * stepBytes)
  const renewals = (agents * input['open-hours'] * 3600) / RENEWAL_SECONDS
  const packs = agents * saves
  const packBytes = packs * saveBytes
  const wal =
    commits * WAL.perCommit +
    segmentBytes * WAL.perSegmentByte +
    packBytes * WAL.perPackByte +
    renewals * WAL.perRenewal
  const pages = agents * PAGES_PER_SESSION * PAGE_BYTES * CHECKPOINTS_PER_DAY
  const disk =
    commits * DISK.perCommit +
    agents * steps * DISK.perCheckpoint +
    segmentBytes * DISK.perSegmentByte +
    packs * DISK.perPack +
    packBytes * DISK.perPackByte
  const peak = (commits / 86_400) * PEAK
  // All sessions may be open at once.
  const renewalRate = agents / RENEWAL_SECONDS
  const cores = Math.ceil((peak + renewalRate) / COMMITS_PER_SECOND)
  const logs = agents * sessions * days
  const byLog = 'partitions by hash of log, or a schema per team'
  const tables = [
    ['segments', commits * days, (commits * DISK.perCommit + segmentBytes) * days, byLog],
    ['checkpoints', agents * steps * days, agents * steps * DISK.perCheckpoint * days, byLog],
    // A fork uses the packs of another log, so they belong to none.
    [
      'packs',
      packs * days,
      (packs * DISK.perPack + packBytes * DISK.perPackByte) * days,
      'schemas, one per team',
    ],
    ['logs', logs, logs * DISK.perLog, 'schemas, one per team'],
    ['live', logs, logs * DISK.perLive, 'schemas, one per team'],
  ]
  return [
    `${count(agents)} agents, each with ${count(steps)} steps, ${count(tools)} tool calls, ${count(saves)} saves of files and ${count(sessions)} new sessions per day`,
    '',
    `commits           ${count(commits)} per day; ${count(commits / 86_400)} per second on average, ${count(peak)} in the busiest hour`,
    `renewals          up to ${count(renewals)} per day, ${count(renewalRate)} per second, if all sessions are open and silent`,
    `WAL               ${bytes(wal)} per day, plus up to ${bytes(pages)} of whole pages (half of it with wal_compression = on)`,
    `network           ${bytes(segmentBytes + packBytes)} per day to the server; the WAL to each standby`,
    `storage           ${bytes(disk)} per day; ${bytes(disk * days)} for ${count(days)} days, before compaction`,
    '',
    ...tables.map(
      ([name, rows, size, parts]) =>
        `${name.padEnd(12)}      ${count(rows / days)} rows per day; ${count(rows)} rows, ${bytes(size)} in ${count(days)} days${advice({ rows, size, parts })}`,
    ),
    `                  logs and live grow by ${count(agents * sessions)} rows per day and never shrink: a deleted session leaves its row`,
    '',
    `cores             about ${cores} busy in the busiest hour, if each commit and renewal waits for its own fsync`,
    `connections       ${count(agents)} clients of a pooler in transaction mode, ${Math.max(4, 4 * cores)} to the server`,
  ].join('\n')
}

function advice({ rows, size, parts }) {
  const times = Math.max(rows / PARTITION_ROWS, size / PARTITION_BYTES)
  return times < 1 ? '' : `: ${2 ** Math.ceil(Math.log2(times))} ${parts}`
}

function count(number) {
  return number >= 10 || Number.isInteger(number)
    ? Math.round(number).toLocaleString('en')
    : number.toFixed(1)
}

function bytes(number) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB']
  const unit = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, number)) / 3))
  return `${(number / 1000 ** unit).toFixed(unit === 0 ? 0 : 1)} ${units[unit]}`
}
