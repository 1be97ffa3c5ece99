// The commands that agents ran and that probably changed something outside the folder. The hooks store them in the metadata.
import {
  fieldsOf,
  type OutsideCommand,
  parseOutsideCommands,
  tryParseJson,
} from '../../base/index.js'
import { type CheckpointId, parseCheckpointId, type ProjectId } from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { openForDisplay, type Vault } from '../encryption/index.js'
import { number, text } from '../rows.js'

/** The ones of a checkpoint, with the prompt that it belongs to. */
export type OutsideRow = {
  readonly checkpoint: CheckpointId
  readonly atMs: number
  readonly prompt: string | null
  readonly commands: readonly OutsideCommand[]
}

/** Only the two keys that are needed. Sealed metadata is not JSON, and is returned whole. */
const METADATA = `CASE WHEN json_valid(metadata) THEN json_object('outside', json_extract(metadata, '$.outside'),
  'prompt', json_extract(metadata, '$.prompt')) ELSE metadata END AS metadata`
const HAS_OUTSIDE = `(CASE WHEN json_valid(metadata) THEN json_type(metadata, '$.outside') = 'array'
  ELSE metadata IS NOT NULL END)`

/** The ones of the project that are newer than this checkpoint, newest first. Sealed ones without a key are skipped. */
export function readOutsideSince(
  database: Database,
  { id, project }: { readonly id: CheckpointId; readonly project: ProjectId },
  vault: Vault,
): readonly OutsideRow[] {
  const rows = database.all(
    `SELECT id, created_at, ${METADATA} FROM checkpoints
     WHERE project = ? AND seq > (SELECT seq FROM checkpoints WHERE id = ?) AND ${HAS_OUTSIDE} ORDER BY seq DESC`,
    project,
    id,
  )
  return rows.flatMap((row) => toOutsideRow(row, vault))
}

function toOutsideRow(row: SqlRow, vault: Vault): readonly OutsideRow[] {
  const shown = openForDisplay(vault, 'checkpoints.metadata', row)
  const { outside, prompt } = fieldsOf(typeof shown === 'string' ? tryParseJson(shown) : undefined)
  const commands = parseOutsideCommands(outside)
  if (commands.length === 0) return []
  const checkpoint = parseCheckpointId(text(row, 'id'))
  return [
    {
      checkpoint,
      atMs: number(row, 'created_at'),
      prompt: typeof prompt === 'string' ? prompt : null,
      commands,
    },
  ]
}
