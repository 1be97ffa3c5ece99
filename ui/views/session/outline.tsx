// The prompts of a session, to jump to. A list beside the conversation; a select above it on narrow screens.
import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { count, Line, visibleText } from '../../components/text.js'
import type { Prompt } from './session-page.js'

/** Fewer need no search. */
const SEARCHABLE = 8

export function Outline(props: {
  readonly prompts: readonly Prompt[]
  /** The first visible item. */
  readonly top: number
  readonly onSelect: (index: number) => void
  readonly children: ComponentChildren
}): VNode {
  const { prompts, top, onSelect, children } = props
  const [words, setWords] = useState('')
  const list = useRef<HTMLOListElement>(null)
  const current = prompts.findLast(({ at }) => at <= top)
  const wanted = words.trim().toLowerCase()
  const shown = prompts
    .map((prompt, index) => ({ ...prompt, number: index + 1 }))
    .filter(({ text }) => text.toLowerCase().includes(wanted))
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [current])
  return (
    <div class="outline">
      <div class="outline-head">
        <h2>{count(prompts.length, 'prompt')}</h2>
        {children}
      </div>
      {prompts.length === 0 ? null : (
        <select
          class="input outline-select"
          aria-label="Jump to a prompt"
          value={current?.id ?? ''}
          onChange={({ currentTarget }) => {
            const found = prompts.find(({ id }) => id === currentTarget.value)
            if (found !== undefined) onSelect(found.at)
          }}
        >
          {current === undefined ? <option value="">Jump to a prompt</option> : null}
          {prompts.map(({ id, text }, index) => (
            <option key={id} value={id}>
              {index + 1}. {visibleText(text)}
            </option>
          ))}
        </select>
      )}
      <nav class="outline-list" aria-label="Prompts">
        {prompts.length < SEARCHABLE ? null : (
          <input
            class="input"
            type="search"
            placeholder="Find a prompt"
            aria-label="Find a prompt"
            value={words}
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
        )}
        <ol ref={list}>
          {shown.map(({ id, at, text, number }) => (
            <li key={id}>
              <button
                type="button"
                aria-current={id === current?.id ? 'true' : undefined}
                onClick={() => onSelect(at)}
              >
                <span class="outline-text">
                  <span class="muted">{number}</span> <Line text={text} />
                </span>
              </button>
            </li>
          ))}
        </ol>
        {shown.length === 0 && wanted !== '' ? (
          <p class="muted">No prompt has these words.</p>
        ) : null}
      </nav>
    </div>
  )
}
