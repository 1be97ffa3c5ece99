// How an error of ours is told in HTTP.
import type { ErrorCode } from '../index.js'

const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = {
  BAD_INPUT: 400,
  PROJECT_REFUSED: 403,
  PROJECT_MISSING: 404,
  PROJECT_BUSY: 409,
  STORE_BUSY: 409,
  DISK_FULL: 507,
}

export function statusOf(code: ErrorCode): number {
  return STATUSES[code] ?? 500
}
