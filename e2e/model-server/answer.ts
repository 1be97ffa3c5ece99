// The answers of the scripted model: the next step of the script in the conversation.
import type { Answer, Call, Entry, ModelRequest, Tool } from './conversation.js'
import { type Step, stepsIn } from './script.js'
import { callsFor, waitsForAgents } from './tools.js'

export function answerTo(request: ModelRequest): Answer {
  const at = request.entries.findLastIndex((entry) => entry.kind === 'prompt')
  const prompt = request.entries[at]
  // Requests for titles and summaries have no tools and no script.
  if (prompt?.kind !== 'prompt' || request.tools.length === 0) return { kind: 'say', text: 'Fine.' }
  const steps = turnsOf(stepsIn(prompt.text), request.tools)
  const step = steps[toolTurns(request.entries.slice(at + 1))]
  if (step === undefined) return { kind: 'say', text: 'Done.' }
  return answerFor(step, request.tools)
}

function answerFor(step: Step, tools: readonly Tool[]): Answer {
  if (step.kind === 'say') return { kind: 'say', text: step.text }
  if (step.kind === 'fail') {
    return { kind: 'error', status: step.status, message: 'The script says that the model fails' }
  }
  const calls: Call[] = (step.kind === 'together' ? step.steps : [step]).flatMap((inner) =>
    callsFor(inner, tools),
  )
  return { kind: 'calls', calls }
}

/** The number of answers with tool calls: the calls of one answer are adjacent, before their results. */
export function toolTurns(entries: readonly Entry[]): number {
  let turns = 0
  let isOpen = false
  for (const { kind } of entries) {
    if (kind === 'call' && !isOpen) turns += 1
    if (kind === 'call') isOpen = true
    if (kind === 'result') isOpen = false
  }
  return turns
}

/** If one call starts a subagent and another waits for it, the step takes two answers. */
function turnsOf(steps: readonly Step[], tools: readonly Tool[]): Step[] {
  if (!waitsForAgents(tools)) return [...steps]
  return steps.flatMap((step): Step[] =>
    step.kind === 'agent' ? [step, { kind: 'wait' }] : [step],
  )
}
