// Whether an agent has started this process: agents mark the environment of what they run. Part of every start of the
// program, so it loads nothing.
import { AGENT_MARKS, type AgentName } from '../../base/index.js'

export type AgentMark = {
  readonly variable: string
  /** Undefined for one that we do not know. */
  readonly agent: AgentName | undefined
}

export function agentMark(environment: NodeJS.ProcessEnv): AgentMark | undefined {
  const found = AGENT_MARKS.find(([variable]) => (environment[variable] ?? '') !== '')
  return found === undefined ? undefined : { variable: found[0], agent: found[1] }
}
