// One item of a conversation: a prompt, an answer, calls with their results, remarks.
import type { ComponentChildren, VNode } from 'preact'
import { count, Line, Time, visibleText } from '../../components/text.js'
import { Markdown } from '../../components/markdown.js'
import type { ConversationData, Item, Part } from './conversation-data.js'
import { LongText } from './long-text.js'
import { Subagent } from './subagent.js'
import { ResultOnly, ToolCard } from './tool-card.js'

export function ItemContent(props: {
  readonly data: ConversationData
  readonly item: Item
  readonly agent: string
}): VNode | null {
  const { data, item, agent } = props
  const { subagent } = item
  const isFolded = subagent !== null && !data.isToggled(`agent ${subagent}`)
  return (
    <>
      {subagent !== null && data.startsRun(item.index) ? (
        <RunHead data={data} item={item} subagent={subagent} />
      ) : null}
      {isFolded
        ? null
        : item.parts.map((part, at) => (
            <PartContent key={at} data={data} item={item} part={part} at={at} agent={agent} />
          ))}
    </>
  )
}

/** The line of consecutive items of a subagent. */
function RunHead(props: {
  readonly data: ConversationData
  readonly item: Item
  readonly subagent: string
}): VNode {
  const { data, item, subagent } = props
  const key = `agent ${subagent}`
  const isOpen = data.isToggled(key)
  const task = item.parts.find((part) => part.kind === 'prompt' || part.kind === 'answer')
  return (
    <button
      type="button"
      class="fold run-head"
      aria-expanded={isOpen}
      onClick={() => data.toggle(key)}
    >
      <span class="fold-title">subagent</span>
      <span class="fold-summary">
        {task !== undefined && 'text' in task ? (
          <Line text={task.text.text.slice(0, 200)} />
        ) : (
          <Line text={subagent} />
        )}
      </span>
      <span class="muted">{count(data.runLength(item.index), 'item')}</span>
    </button>
  )
}

function PartContent(props: {
  readonly data: ConversationData
  readonly item: Item
  readonly part: Part
  readonly at: number
  readonly agent: string
}): VNode | null {
  const { data, item, part, at, agent } = props
  const { index } = item
  const isOfUser = item.subagent === null && !data.isSubagent
  switch (part.kind) {
    case 'prompt':
      return (
        <Said by={isOfUser ? 'you' : agent} at={item.at} kind="prompt">
          <LongText data={data} index={index} part={at} text={part.text}>
            {(text) => <p class="plain">{visibleText(text)}</p>}
          </LongText>
        </Said>
      )
    case 'answer':
      return (
        <Said by={agent} at={item.at} kind="answer">
          <LongText data={data} index={index} part={at} text={part.text}>
            {(text) => <Markdown text={text} />}
          </LongText>
        </Said>
      )
    case 'thinking': {
      const key = `thinking ${index} ${at}`
      const isOpen = data.isToggled(key)
      const length = part.text.text.length + part.text.restLength
      return (
        <div class="aside" data-kind="thinking">
          <button
            type="button"
            class="fold"
            aria-expanded={isOpen}
            onClick={() => data.toggle(key)}
          >
            <span class="fold-title">thinking</span>
            <span class="muted">{count(length, 'character')}</span>
          </button>
          {isOpen ? (
            <LongText data={data} index={index} part={at} text={part.text}>
              {(text) => <Markdown text={text} />}
            </LongText>
          ) : null}
        </div>
      )
    }
    case 'call':
      return (
        <>
          <ToolCard data={data} index={index} part={part} at={at} />
          <Subagent data={data} call={part.id} agent={agent} />
        </>
      )
    case 'result':
      return data.hasCall(part.id) ? null : (
        <ResultOnly data={data} index={index} part={part} at={at} />
      )
    case 'note': {
      const key = `note ${index} ${at}`
      const length = part.text.text.length + part.text.restLength
      const isLong = length > MAX_NOTE
      const isOpen = !isLong || data.isToggled(key)
      return (
        <div class="aside note" data-kind="note">
          {isLong ? (
            <button
              type="button"
              class="fold"
              aria-expanded={isOpen}
              onClick={() => data.toggle(key)}
            >
              <span class="fold-title">note</span>
              <span class="fold-summary">
                <Line text={part.text.text.slice(0, MAX_NOTE)} />
              </span>
              <span class="muted">{count(length, 'character')}</span>
            </button>
          ) : null}
          {isOpen ? (
            <LongText data={data} index={index} part={at} text={part.text}>
              {(text) => <p class="plain">{visibleText(text)}</p>}
            </LongText>
          ) : null}
        </div>
      )
    }
  }
}

/** A longer note is folded: agents begin conversations with pages of instructions. */
const MAX_NOTE = 300

/** A text with the name of its author and the time beside it. */
function Said(props: {
  readonly by: string
  readonly at: string | null
  readonly kind: 'prompt' | 'answer'
  readonly children: ComponentChildren
}): VNode {
  const { by, at, kind, children } = props
  return (
    <div class="said" data-kind={kind}>
      <div class="said-by">
        <span class="author" data-author={by === 'you' ? 'you' : 'agent'}>
          <Line text={by} />
        </span>
        {at === null ? null : <Time at={at} />}
      </div>
      <div class="said-text">{children}</div>
    </div>
  )
}
