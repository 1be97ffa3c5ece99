// The agent's part of a checkpoint: its step in the session, an outline of its state, its tool calls.
import type { AgentDetails, CheckpointDetails } from '../../index.js'
import { formatCount, formatNumber } from '../terminal/format-numbers.js'
import type { Color } from '../terminal/colors.js'
import { printableLine } from '../terminal/escape.js'
import type { Screen } from '../terminal/screen.js'
import { cutEnd, padEnd, widthOf } from '../terminal/text-width.js'

const MAX_KEYS = 30
const MAX_TOOLS = 10
const KEY_WIDTH = 40

type Figures = { readonly kind: string; readonly length: number | null }

const COLORS: Readonly<Record<string, Color>> = {
  confirmed: 'green',
  failed: 'red',
  started: 'yellow',
}

/** A line of `show`: a label and a text. */
export function labelOn({ paint }: Screen) {
  return (label: string, text: string): string =>
    `${paint('bold', padEnd(`${label}:`, 11))} ${text}`
}

/** Empty for a checkpoint without a session. */
export function agentLines(details: CheckpointDetails, screen: Screen): string[] {
  const { session, step, status, agent } = details
  if (session === null || agent === null) return []
  const label = labelOn(screen)
  const position = `${printableLine(session)}, step ${step}, turn ${agent.turn}`
  return [
    label('Session', position),
    label('Status', printableLine(status ?? '')),
    ...(agent.parent === null ? [] : [label('Parent', agent.parent)]),
    ...(agent.toolCall === null ? [] : [label('Tool call', printableLine(agent.toolCall))]),
    ...stateLines(agent, screen),
    ...toolLines(agent, screen),
  ]
}

function stateLines({ state, schemaVersion }: AgentDetails, screen: Screen): string[] {
  const label = labelOn(screen)
  if (state === null) return [label('State', 'none')]
  const keys = state.keys.slice(0, MAX_KEYS).map(({ key, ...figures }) => ({
    name: cutEnd(printableLine(key), KEY_WIDTH),
    holds: figuresText(figures),
  }))
  const width = Math.max(0, ...keys.map(({ name }) => widthOf(name)))
  const more = state.keys.length - keys.length
  const version = schemaVersion === null ? '' : `, version ${schemaVersion}`
  return [
    label('State', `${figuresText(state)}${version}`),
    ...keys.map(({ name, holds }) => `  ${padEnd(name, width)}  ${screen.paint('dim', holds)}`),
    ...(more > 0 ? [`  … and ${formatNumber(more)} more`] : []),
  ]
}

function figuresText({ kind, length }: Figures): string {
  if (length === null) return kind
  return kind === 'object' ? formatCount(length, 'key') : `${kind} of ${formatNumber(length)}`
}

/** Newest first. */
function toolLines({ tools }: AgentDetails, screen: Screen): string[] {
  if (tools.length === 0) return []
  const shown = tools.slice(-MAX_TOOLS).reverse()
  const width = Math.max(...shown.map(({ status }) => widthOf(status)))
  const title = tools.length > shown.length ? `the newest ${shown.length}` : 'newest first'
  return [
    labelOn(screen)('Tools', title),
    ...shown.map(({ id, name, status, step }) => {
      const state = padEnd(status, width)
      const color = COLORS[status]
      const call = `${printableLine(name)} (${printableLine(id)}), step ${step}`
      return `  ${color === undefined ? state : screen.paint(color, state)}  ${call}`
    }),
  ]
}
