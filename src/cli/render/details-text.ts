// `savestate show`: one checkpoint in full, with the agent's part of it.
import {
  type AgentDetails,
  type CheckpointDetails,
  SKIP_REASONS,
  type SkipReason,
} from '../../internal.js'
import { COLOR_OF, formatChange, listedChanges } from './change-lines.js'
import type { Color } from '../terminal/colors.js'
import {
  formatBytes,
  formatCount,
  formatLines,
  formatNumber,
  limitLines,
} from '../terminal/format-numbers.js'
import { displayPath, printable, printableLine } from '../terminal/escape.js'
import { localTime, relativeTime } from '../terminal/relative-time.js'
import { testMark } from './test-mark.js'
import type { Screen } from '../terminal/screen.js'
import { quoteForShell } from '../terminal/shell-quote.js'
import { cutEnd, padEnd, widthOf } from '../terminal/text-width.js'

const MAX_CHANGES = 50
const MAX_KEYS = 30
const MAX_TOOLS = 10
const KEY_WIDTH = 40
/** How many examples to print, in this order. Paths that were skipped on purpose need fewer. */
const EXAMPLES: readonly (readonly [SkipReason, number])[] = [
  ['too-large', 10],
  ['unreadable', 10],
  ['unstable', 10],
  ['special', 10],
  ['reserved', 10],
  ['temporary', 10],
  ['secret', 10],
  ['ignored', 3],
  ['vcs', 3],
  ['store', 3],
  ['forgotten', 1],
]

const TOOL_COLORS: Readonly<Record<string, Color>> = {
  confirmed: 'green',
  failed: 'red',
  started: 'yellow',
}

export function detailsText(
  details: CheckpointDetails,
  { screen, home }: { readonly screen: Screen; readonly home: string },
): string {
  const { paint, now } = screen
  const label = labelOn(screen)
  const created = `${localTime(details.createdAt)} (${relativeTime(details.createdAt, now)}), ${details.kind}`
  return [
    `${paint('bold', 'Checkpoint')}  ${paint('yellow', details.id)}`,
    ...(details.name === null ? [] : [label('Name', printableLine(details.name))]),
    ...(details.pinned ? [label('Pinned', 'yes')] : []),
    label('Created', created),
    ...(details.reason === null ? [] : [label('Message', reasonText(details.reason))]),
    ...(details.tests === undefined
      ? []
      : [label('Tests', `${testMark(details.tests)} ${details.tests}`)]),
    ...agentLines(details, screen),
    ...(details.hasFiles ? filesLines(details, { screen, home }) : []),
  ].join('\n')
}

function filesLines(
  details: CheckpointDetails,
  { screen, home }: { readonly screen: Screen; readonly home: string },
): string[] {
  const label = labelOn(screen)
  return [
    label(
      'Contains',
      `${formatCount(details.fileCount, 'file')}, ${formatBytes(details.sizeBytes)}`,
    ),
    ...details.repositories.map((repository) => label('Repository', repositoryText(repository))),
    label(
      'Changed',
      `${formatCount(details.files, 'file')} ${formatLines(details)} since the one before`,
    ),
    ...(details.author === null ? [] : [label('By', printableLine(details.author))]),
    ...changeLines(details, screen),
    ...uncapturedLines(details, screen),
    ...(details.skipped === 0
      ? []
      : [label('Skipped', formatCount(details.skipped, 'path')), ...skippedLines(details, screen)]),
    '',
    'To get these files back with git alone, into an empty folder:',
    `  git --git-dir=${objectsFolder(home)} archive ${details.ref}:files | tar -x -C FOLDER`,
  ]
}

function changeLines({ changes }: CheckpointDetails, { paint }: Screen): readonly string[] {
  const lines = listedChanges(changes).map(
    (view) => `  ${paint(COLOR_OF[view.change], padEnd(view.change, 8))} ${formatChange(view)}`,
  )
  return limitLines(lines, MAX_CHANGES)
}

function uncapturedLines({ uncaptured }: CheckpointDetails, screen: Screen): string[] {
  if (uncaptured.length === 0) return []
  const count = formatCount(uncaptured.length, 'path')
  return [
    labelOn(screen)('Not saved', `${count} changed that no checkpoint has`),
    ...uncaptured.map(({ path, isFolder, change, reason }) =>
      screen.paint(
        'yellow',
        `  ${padEnd(change, 8)} ${displayPath(path)}${isFolder ? '/' : ''}  (${SKIP_REASONS[reason]})`,
      ),
    ),
  ]
}

function skippedLines(details: CheckpointDetails, { paint }: Screen): string[] {
  return EXAMPLES.flatMap(([reason, most]) => {
    const count = details.skippedByReason[reason] ?? 0
    if (count === 0) return []
    const examples = details.skippedPaths
      .filter((skipped) => skipped.reason === reason)
      .slice(0, most)
    const more = count - examples.length
    return [
      `  ${formatNumber(count)} ${SKIP_REASONS[reason]}`,
      ...examples.map(({ path, sizeBytes }) => {
        const size =
          sizeBytes === null || reason !== 'too-large' ? '' : `  ${formatBytes(sizeBytes)}`
        return paint('dim', `    ${displayPath(path)}${size}`)
      }),
      ...(more > 0 ? [paint('dim', `    … and ${formatNumber(more)} more`)] : []),
    ]
  })
}

function repositoryText(repository: CheckpointDetails['repositories'][number]): string {
  const { path, branch, commit } = repository
  const at = commit === null ? 'without a commit' : `at ${commit.slice(0, 12)}`
  return `${displayPath(path)} ${branch === null ? '' : `on ${printable(branch)} `}${at}`
}

function reasonText(reason: string): string {
  return reason
    .trim()
    .split('\n')
    .map(printable)
    .join(`\n${' '.repeat(12)}`)
}

/** Ready to be pasted into a shell. */
function objectsFolder(home: string): string {
  const isTypable = !/[\x00-\x1f\x7f]/.test(home)
  return isTypable ? quoteForShell(`${home}/objects.git`) : '"$SAVESTATE_HOME"/objects.git'
}

/** A line of `show`: a label and a text. */
function labelOn({ paint }: Screen) {
  return (label: string, text: string): string =>
    `${paint('bold', padEnd(`${label}:`, 11))} ${text}`
}

/** Empty for a checkpoint without a session. */
function agentLines(details: CheckpointDetails, screen: Screen): string[] {
  const { session, step, status, agent } = details
  if (session === null || agent === null) return []
  const label = labelOn(screen)
  const position = `${printableLine(session)}, step ${step}, turn ${agent.turn}`
  return [
    label('Session', position),
    label('Status', printableLine(status ?? '')),
    ...(agent.parent === null ? [] : [label('Parent', agent.parent)]),
    ...(agent.toolCall === null ? [] : [label('Tool call', printableLine(agent.toolCall))]),
    ...(agent.tokens === null ? [] : [label('Tokens', tokensText(agent.tokens, agent.costUsd))]),
    ...stateLines(agent, screen),
    ...toolLines(agent, screen),
  ]
}

/** `1,200 in (800 cached), 90 out, $0.25 under this prompt`. */
function tokensText(
  { input, output, cached }: NonNullable<AgentDetails['tokens']>,
  costUsd: AgentDetails['costUsd'],
): string {
  const read = cached === 0 ? '' : ` (${formatNumber(cached)} cached)`
  const cost = costUsd === null ? '' : `, $${costUsd.toFixed(2)}`
  return `${formatNumber(input)} in${read}, ${formatNumber(output)} out${cost} under this prompt`
}

function stateLines({ state, schemaVersion }: AgentDetails, screen: Screen): string[] {
  const label = labelOn(screen)
  if (state === null) return [label('State', 'none')]
  const names = state.keys.map(({ key }) => cutEnd(printableLine(key), KEY_WIDTH))
  const width = Math.max(0, ...names.slice(0, MAX_KEYS).map(widthOf))
  const keys = state.keys.map(
    (key, at) => `  ${padEnd(names[at] ?? '', width)}  ${screen.paint('dim', figuresText(key))}`,
  )
  const version = schemaVersion === null ? '' : `, version ${schemaVersion}`
  return [label('State', `${figuresText(state)}${version}`), ...limitLines(keys, MAX_KEYS)]
}

type Figures = { readonly kind: string; readonly length: number | null }

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
      const color = TOOL_COLORS[status]
      const call = `${printableLine(name)} (${printableLine(id)}), step ${step}`
      return `  ${color === undefined ? state : screen.paint(color, state)}  ${call}`
    }),
  ]
}
