// The mappers of all agents.
import { type AgentName } from '../../base/index.js'
import { claude } from './claude.js'
import { cline } from './cline.js'
import { codex } from './codex.js'
import { copilot } from './copilot.js'
import { cursor } from './cursor.js'
import type { EventType, Mapper } from './event.js'
import { gemini } from './gemini.js'
import { hermes } from './hermes.js'
import { opencode } from './opencode.js'

export const MAPPERS: Readonly<Record<AgentName, Mapper>> = {
  claude,
  codex,
  gemini,
  opencode,
  cursor,
  cline,
  copilot,
  hermes,
}

/** Whether the event precedes a tool call, which it can still stop. */
export function isBeforeTool(agent: AgentName, eventName: string): boolean {
  return typeOf(agent, eventName) === 'before-tool'
}

export function isPrompt(agent: AgentName, eventName: string): boolean {
  return typeOf(agent, eventName) === 'turn-start'
}

function typeOf(agent: AgentName, eventName: string): EventType | undefined {
  const { types } = MAPPERS[agent]
  return Object.hasOwn(types, eventName) ? types[eventName] : undefined
}
