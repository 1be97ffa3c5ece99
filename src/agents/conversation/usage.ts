// Adds up the tokens and the cost that an agent writes into its transcript, while the new lines are copied at an event. There are no
// price tables here: a cost is known only if the transcript has it.
import { type AgentName, type Fields, fieldsOf, tryParseJson } from '../../base/index.js'

type Amounts = {
  /** All tokens that were sent to the model, those from its cache included. */
  readonly input: number
  readonly output: number
  /** The part of `input` that the model read from its cache. */
  readonly cached: number
  readonly costUsd: number | null
}

/** Since the start of the transcript. In the metadata of a checkpoint, as the position up to which it was read. */
export type Usage = Amounts & {
  /** The newest message, which later lines may repeat with other amounts. */
  readonly last?: Amounts & { readonly id: string }
  /** The agent writes totals. They count instead of the amounts of single answers. */
  readonly isTotal?: true
}

const NOTHING: Amounts = { input: 0, output: 0, cached: 0, costUsd: null }

/** `known`: up to the line before. Undefined if no line so far has any amount. */
export function addUsage(
  agent: AgentName,
  lines: readonly string[],
  known: Usage | undefined,
): Usage | undefined {
  const read = READERS[agent]
  if (read === undefined) return known
  let usage = known
  for (const line of lines) {
    // Most lines have none, and some are long.
    if (!line.includes('okens') && !line.includes('oken_usage')) continue
    const found = read(fieldsOf(tryParseJson(line)))
    if (found !== undefined) usage = addTo(usage ?? NOTHING, found)
  }
  return usage
}

/** From the metadata; undefined if there is none, or it is malformed. */
export function parseUsage(value: unknown): Usage | undefined {
  const { last: repeated, isTotal, ...own } = fieldsOf(value)
  const amounts = parseAmounts(own)
  if (amounts === undefined) return undefined
  const { id, ...others } = fieldsOf(repeated)
  const last = parseAmounts(others)
  return {
    ...amounts,
    ...(typeof id === 'string' && last !== undefined ? { last: { ...last, id } } : {}),
    ...(isTotal === true ? { isTotal } : {}),
  }
}

function parseAmounts({ input, output, cached, costUsd }: Fields): Amounts | undefined {
  const isKnown = [input, output, cached].every((each) => typeof each === 'number')
  if (!isKnown) return undefined
  const amounts = { input: count(input), output: count(output), cached: count(cached) }
  return { ...amounts, costUsd: typeof costUsd === 'number' ? costUsd : null }
}

type Found = { readonly amounts: Amounts; readonly id: string; readonly isTotal?: true }

function addTo(usage: Usage, { amounts, id, isTotal }: Found): Usage {
  if (isTotal === true) return { ...amounts, isTotal }
  if (usage.isTotal === true) return usage
  const before = id !== '' && usage.last?.id === id ? usage.last : NOTHING
  const sum = (key: 'input' | 'output' | 'cached') => usage[key] - before[key] + amounts[key]
  const isPriced = usage.costUsd !== null || amounts.costUsd !== null
  const costUsd = isPriced
    ? (usage.costUsd ?? 0) - (before.costUsd ?? 0) + (amounts.costUsd ?? 0)
    : null
  const total = { input: sum('input'), output: sum('output'), cached: sum('cached'), costUsd }
  return id === '' ? total : { ...total, last: { ...amounts, id } }
}

const READERS: Readonly<Partial<Record<AgentName, (entry: Fields) => Found | undefined>>> = {
  claude: readClaude,
  codex: readCodex,
  gemini: readGemini,
}

/** Each block of an answer is a line of its own, with the usage of the whole answer. */
function readClaude({ type, message, costUSD }: Fields): Found | undefined {
  const { id, usage } = fieldsOf(message)
  if (type !== 'assistant' || usage === undefined) return undefined
  const fields = fieldsOf(usage)
  const cached = count(fields['cache_read_input_tokens'])
  const written = count(fields['cache_creation_input_tokens'])
  const input = count(fields['input_tokens']) + written + cached
  const costUsd = typeof costUSD === 'number' ? costUSD : null
  const amounts = { input, output: count(fields['output_tokens']), cached, costUsd }
  return { amounts, id: typeof id === 'string' ? id : '' }
}

/** Totals in `token_count`; without them, versions that write a record for each response. */
function readCodex({ type, payload }: Fields): Found | undefined {
  const { type: event, info, usage, response_id: id } = fieldsOf(payload)
  const total = fieldsOf(info)['total_token_usage']
  if (type === 'event_msg' && event === 'token_count' && total !== undefined)
    return { amounts: codexAmounts(total), id: '', isTotal: true }
  if (type !== 'token_usage_record' || usage === undefined) return undefined
  return { amounts: codexAmounts(usage), id: typeof id === 'string' ? id : '' }
}

function codexAmounts(value: unknown): Amounts {
  const {
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: cached,
  } = fieldsOf(value)
  return { input: count(input), output: count(output), cached: count(cached), costUsd: null }
}

function readGemini({ type, id, tokens }: Fields): Found | undefined {
  if (type !== 'gemini' || tokens === undefined || tokens === null) return undefined
  const { input, output, cached, thoughts } = fieldsOf(tokens)
  const amounts = { input: count(input), output: count(output) + count(thoughts) }
  const found = { ...amounts, cached: count(cached), costUsd: null }
  return { amounts: found, id: typeof id === 'string' ? id : '' }
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0
}
