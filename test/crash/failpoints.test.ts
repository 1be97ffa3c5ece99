// Each failpoint of the source is in the table of a crash test, so none is left untested.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { RESUME_POINTS, SHIP_POINTS, SPLIT_POINTS } from '../engine/sharing/share-failpoints.js'
import { SESSION_POINTS } from '../engine/sessions/session-failpoints.js'
import { IMPORT_POINTS } from '../imports/import-failpoints.js'
import { DROP_POINTS } from '../support/failpoints/drop.js'
import { FORGET_POINTS } from '../support/failpoints/forget.js'
import { MOVE_POINTS } from '../support/failpoints/move.js'
import { PRUNE_POINTS } from '../support/failpoints/prune.js'
import { HIDE_POINTS, REKEY_POINTS } from '../support/failpoints/rekey.js'
import { REPAIR_POINTS } from '../support/failpoints/repair.js'
import { SEARCH_POINTS } from '../support/failpoints/search.js'
import { FETCH_POINTS } from '../support/failpoints/share.js'
import { SLICE_POINTS } from '../support/failpoints/slice.js'
import { POINTS } from './crash-points.js'

test('the table lists the failpoints of the source', () => {
  const src = join(dirname(fileURLToPath(import.meta.url)), '../../src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  const found = files
    .filter((name) => name.endsWith('.ts') && !name.endsWith('failpoint.ts'))
    .flatMap((name) => [
      ...readFileSync(join(src, name), 'utf8').matchAll(/\bfailpoint\(([^)]*)\)/g),
    ])
    .map((match) => match[1])
  const tables = [
    ...Object.values(POINTS),
    ...Object.values(SESSION_POINTS),
    ...Object.values(IMPORT_POINTS),
    SHIP_POINTS,
    RESUME_POINTS,
    SPLIT_POINTS,
    PRUNE_POINTS,
    REPAIR_POINTS,
    FORGET_POINTS,
    DROP_POINTS,
    MOVE_POINTS,
    REKEY_POINTS,
    SLICE_POINTS,
    HIDE_POINTS,
    SEARCH_POINTS,
    FETCH_POINTS,
  ]
  const listed = new Set(tables.flatMap((points) => Object.keys(points)))
  expect(new Set(found)).toEqual(new Set([...listed].map((point) => `'${point}'`)))
})
