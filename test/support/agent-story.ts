// A turn of Claude Code as its hooks report it, with the real program: a prompt, then tool calls.
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Scratch, Setting } from '../cli/program.js'

export type Fields = Readonly<Record<string, unknown>>
export type Row = {
  readonly id: string
  readonly reason: string
  readonly kind: string
  readonly moment: 'before' | 'after' | null
}

export const SESSION = 's-1'

export function claudeHook(s: Scratch, eventName: string, fields: Fields = {}, setting?: Setting) {
  const payload = { session_id: SESSION, cwd: s.project, hook_event_name: eventName, ...fields }
  const input = JSON.stringify(payload)
  expect(s.run(['hook', 'claude', eventName], { ...setting, input })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  })
}

export function claudePrompt(s: Scratch, prompt: string, fields: Fields = {}): void {
  claudeHook(s, 'UserPromptSubmit', { prompt, prompt_id: `p ${prompt}`, ...fields })
}

/** Runs the command in the project, between the two hooks of the call. */
export function claudeShell(s: Scratch, command: string, fields: Fields = {}): void {
  const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `id ${command}` }
  claudeHook(s, 'PreToolUse', { ...call, ...fields })
  expect(s.shell(command)).toMatchObject({ code: 0 })
  claudeHook(s, 'PostToolUse', { ...call, ...fields })
}

/** Newest first. */
export function rowsOf(s: Scratch): readonly Row[] {
  return (s.json(['list']) as { readonly checkpoints: readonly Row[] }).checkpoints
}

export function rowOf(s: Scratch, reason: string): Row {
  const row = rowsOf(s).find((one) => one.reason === reason)
  if (row === undefined) throw new Error(`no row ${reason} in ${JSON.stringify(rowsOf(s))}`)
  return row
}

export const inProject = (s: Scratch, ...names: readonly string[]) => join(s.project, ...names)
