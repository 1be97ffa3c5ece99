// `head.json` of a log: the fields of its head, and what its trees hold. It was written by another host, so every field is checked.
import { fieldsOf, isRecord, tryParseJson } from '../../base/index.js'
import {
  LOG_KINDS,
  type LogKind,
  type LogName,
  type LogSize,
  STATUS_WORDS,
  type StatusWord,
} from '../../model/index.js'
import { MAX_CARD_BYTES, MAX_ID_CHARS } from '../codec/index.js'
import type { DriverHead, DriverPack, DriverProject } from '../driver.js'

/** In base64. */
const MAX_CARD_CHARS = Math.ceil(MAX_CARD_BYTES / 3) * 4

export type SegmentEntry = {
  readonly n: number
  readonly prev: string | null
  readonly hash: string
  readonly bytes: number
}

export type PackEntry = DriverPack & { readonly chunks: number; readonly bytes: number }

export type CheckpointEntry = {
  readonly id: string
  readonly step: number
  readonly pack: string | null
}

export type LogManifest = Omit<DriverHead, 'leaseEndsInMs'> & {
  readonly agent: string | null
  readonly segments: readonly SegmentEntry[]
  readonly checkpoints: readonly CheckpointEntry[]
  readonly packs: ReadonlyMap<string, PackEntry>
}

const VERSION = 1
/** Half a million segments or checkpoints. */
export const MAX_HEAD_BYTES = 64 << 20

/** It has no segments, checkpoints and packs, and no holder. */
export function emptyManifest(
  log: LogName,
  { agent, project }: { readonly agent: string | null; readonly project: DriverProject | null },
): LogManifest {
  return {
    log,
    nextN: 1,
    epoch: 0,
    hash: null,
    fence: 0,
    status: 'in_progress',
    updatedAtMs: 0,
    card: null,
    agent,
    project,
    holder: null,
    isDeleted: false,
    segments: [],
    checkpoints: [],
    packs: new Map(),
  }
}

/** Leases in a git repository do not expire: no clock is common to the hosts. */
export function headOf({
  agent: _agent,
  segments: _segments,
  checkpoints: _checkpoints,
  packs: _packs,
  ...head
}: LogManifest): DriverHead {
  return { ...head, leaseEndsInMs: null }
}

export function sizeOf({
  log,
  segments,
  checkpoints,
}: LogManifest): LogSize & { readonly log: LogName } {
  return { log, segments: segments.length, checkpoints: checkpoints.length }
}

export function encodeManifest(manifest: LogManifest): Buffer {
  const { log, card, holder, project, packs, segments, checkpoints, ...rest } = manifest
  const value = {
    version: VERSION,
    ...log,
    ...rest,
    card: textOf(card),
    holder: textOf(holder),
    project: project === null ? null : { id: project.id, card: textOf(project.card) },
    segments: segments.map(({ n, prev, hash, bytes }) => [n, prev, hash, bytes]),
    checkpoints: checkpoints.map(({ id, step, pack }) => [id, step, pack]),
    packs: [...packs.values()].map(({ id, parent, tree, project: of, chunks, bytes }) => [
      id,
      parent,
      tree,
      of,
      chunks,
      bytes,
    ]),
  }
  return Buffer.from(`${JSON.stringify(value)}\n`, 'utf8')
}

/** Undefined if it is malformed; `'newer'` if a newer version wrote it. */
export function decodeManifest(bytes: Buffer): LogManifest | 'newer' | undefined {
  const value = fieldsOf(tryParseJson(bytes.toString('utf8')))
  if (isCount(value['version']) && value['version'] > VERSION) return 'newer'
  const { kind, id, status } = value
  const segments = listOf(value['segments'], segmentOf)
  const checkpoints = listOf(value['checkpoints'], checkpointOf)
  const packs = listOf(value['packs'], packOf)
  const project = projectOf(value['project'])
  const fields = {
    nextN: value['nextN'],
    epoch: value['epoch'],
    fence: value['fence'],
    updatedAtMs: value['updatedAtMs'],
  }
  const { hash, agent, isDeleted } = value
  const [card, holder] = [bytesOrNullOf(value['card']), bytesOrNullOf(value['holder'])]
  const isValid =
    value['version'] === VERSION &&
    isKind(kind) &&
    isId(id) &&
    Object.values(fields).every(isCount) &&
    isHashOrNull(hash) &&
    isTextOrNull(agent) &&
    typeof isDeleted === 'boolean' &&
    isStatus(status)
  if (!isValid || segments === undefined || checkpoints === undefined || packs === undefined)
    return undefined
  if (project === undefined || card === undefined || holder === undefined) return undefined
  return {
    log: { kind, id },
    ...(fields as Record<keyof typeof fields, number>),
    hash,
    status,
    agent,
    card,
    holder,
    project,
    isDeleted,
    segments,
    checkpoints,
    packs: new Map(packs.map((pack) => [pack.id, pack])),
  }
}

function segmentOf(item: readonly unknown[]): SegmentEntry | undefined {
  const [n, prev, hash, bytes] = item
  if (!isCount(n) || !isHashOrNull(prev) || !isHashOrNull(hash) || hash === null) return undefined
  return isCount(bytes) ? { n, prev, hash, bytes } : undefined
}

function checkpointOf(item: readonly unknown[]): CheckpointEntry | undefined {
  const [id, step, pack] = item
  if (typeof id !== 'string' || !isCount(step) || !isTextOrNull(pack)) return undefined
  return { id, step, pack }
}

function packOf(item: readonly unknown[]): PackEntry | undefined {
  const [id, parent, tree, project, chunks, bytes] = item
  if (typeof id !== 'string' || !isTextOrNull(parent) || typeof tree !== 'string') return undefined
  if (!isTextOrNull(project) || !isCount(chunks) || !isCount(bytes)) return undefined
  return { id, parent, tree, project, chunks, bytes }
}

function projectOf(value: unknown): DriverProject | null | undefined {
  if (value === null) return null
  if (!isRecord(value)) return undefined
  const { id } = value
  const card = bytesOrNullOf(value['card'])
  return isId(id) && card instanceof Uint8Array ? { id, card } : undefined
}

/** Undefined if it is not a list of lists, or one of them is malformed. */
function listOf<T>(
  value: unknown,
  read: (item: readonly unknown[]) => T | undefined,
): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined
  const items = value.map((item: unknown) => (Array.isArray(item) ? read(item) : undefined))
  return items.every((item) => item !== undefined) ? items : undefined
}

function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes).toString('base64')
}

/** Undefined if it is malformed or longer than a part of a card may be. */
function bytesOrNullOf(value: unknown): Buffer | null | undefined {
  if (value === null) return null
  if (typeof value !== 'string' || value.length > MAX_CARD_CHARS) return undefined
  return Buffer.from(value, 'base64')
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_ID_CHARS
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string'
}

function isHashOrNull(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value))
}

function isKind(value: unknown): value is LogKind {
  return LOG_KINDS.some((kind) => kind === value)
}

function isStatus(value: unknown): value is StatusWord {
  return STATUS_WORDS.some((word) => word === value)
}
