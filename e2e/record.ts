// The recording hook: it records each payload and the files in the project at that time.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scene } from './case.js'
import { asRecord, asText, type Json } from './model-server/json.js'
import type { Sandbox } from './install-folder.js'

export interface RecordedEvent {
  readonly event: string
  readonly payload: Json
  /** Files in the project when the hook ran, which distinguish "before" from "after". */
  readonly files: readonly string[]
}

/** A field by its path, such as `output.message.id`; undefined if absent. */
export function field({ payload }: RecordedEvent, path: string): unknown {
  let value: unknown = payload
  for (const name of path.split('.')) value = asRecord(value)[name]
  return value
}

/** Records every event of the agent. */
export function record({ here, sandbox }: Scene): void {
  const command = recordingCommand(sandbox)
  here.hook(() => command)
}

/** A shell command, because some agents do not wait for Node to start. */
function recordingCommand(sandbox: Sandbox): string {
  const script = join(sandbox.root, 'bin', 'record')
  mkdirSync(join(sandbox.root, 'bin'), { recursive: true })
  writeFileSync(
    script,
    `#!/bin/sh
at="${sandbox.records}/$(date +%s%N)-$$"
cat > "$at.part"
ls -A "${sandbox.project}" > "$at.files"
mv "$at.part" "$at.json"
`,
    { mode: 0o755 },
  )
  return script
}

/** The recorded events, oldest first. */
export function recorded(sandbox: Sandbox): RecordedEvent[] {
  return readdirSync(sandbox.records)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const path = join(sandbox.records, name)
      const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
      const payload = asRecord(value)
      const files = readFileSync(path.replace(/json$/, 'files'), 'utf8').split('\n')
      return {
        event: asText(payload['hook_event_name'] ?? payload['event']),
        payload,
        files: files.filter((file) => file !== '' && !file.startsWith('.')).sort(),
      }
    })
}
