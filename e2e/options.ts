// The command line options, for both halves of the run.
import type { Agent } from './programs/agent.js'
import { claude } from './programs/claude.js'
import { codex } from './programs/codex.js'
import { gemini } from './programs/gemini.js'
import { opencode } from './programs/opencode.js'

export const OPTIONS = {
  /** Only these agents. */
  agent: { type: 'string', multiple: true, default: [] as string[] },
  /** Only claims with this text in them. */
  case: { type: 'string', default: '' },
} as const

const AGENTS: readonly Agent[] = [claude, codex, gemini, opencode]

export function chosenAgents(names: readonly string[]): readonly Agent[] {
  if (names.length === 0) return AGENTS
  return names.map((name) => {
    const agent = AGENTS.find((one) => one.name === name)
    if (agent !== undefined) return agent
    throw new Error(`There is no agent ${name}: ${AGENTS.map((one) => one.name).join(', ')}`)
  })
}

/** The second agent for cases that need two: the fastest one that differs. */
export function partnerOf(agent: Agent): Agent {
  return agent === codex ? claude : codex
}
