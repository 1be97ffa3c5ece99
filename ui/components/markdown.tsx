// Answers as a reader wants them: a part of Markdown, built from elements and text nodes only. Links say where they lead and open
// after a second click; images are never loaded.
import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type Block, type Inline, parseMarkdown } from './markdown-blocks.js'
import { visibleText } from './text.js'

/** Parsed at once; more is added while the browser is idle. */
const SLICE = 24_000

export function Markdown({ text }: { readonly text: string }): VNode {
  const slices = useMemo(() => sliceText(text, SLICE), [text])
  const [shown, setShown] = useState(1)
  useEffect(() => {
    if (shown >= slices.length) return
    const timer = window.setTimeout(() => setShown(shown + 1))
    return () => window.clearTimeout(timer)
  }, [shown, slices])
  return (
    <div class="markdown">
      {slices.slice(0, shown).map((slice, index) => (
        <Slice key={index} text={slice} />
      ))}
    </div>
  )
}

/** Cuts after a line, so that only a block at the cut is shown as two. */
export function sliceText(text: string, length: number): readonly string[] {
  const slices: string[] = []
  let from = 0
  while (text.length - from > length) {
    const paragraph = text.lastIndexOf('\n\n', from + length)
    const line = text.lastIndexOf('\n', from + length)
    const end = paragraph > from ? paragraph + 2 : line > from ? line + 1 : from + length
    slices.push(text.slice(from, end))
    from = end
  }
  return [...slices, text.slice(from)]
}

function Slice({ text }: { readonly text: string }): VNode {
  return useMemo(() => <>{parseMarkdown(text).map(renderBlock)}</>, [text])
}

function renderBlock(block: Block, key: number): VNode {
  switch (block.kind) {
    case 'paragraph':
      return <p key={key}>{block.content.map(renderInline)}</p>
    case 'heading':
      return (
        // The headings of an answer are not part of the page's own outline.
        <p key={key} class="markdown-heading" data-level={Math.min(block.level, 4)}>
          {block.content.map(renderInline)}
        </p>
      )
    case 'code':
      return <CodeBlock key={key} language={block.language} text={block.text} />
    case 'table':
      return (
        <pre key={key} class="markdown-table" tabIndex={0} role="group" aria-label="Table">
          {visibleText(block.text)}
        </pre>
      )
    case 'quote':
      return <blockquote key={key}>{block.blocks.map(renderBlock)}</blockquote>
    case 'list':
      return (
        <ul key={key}>
          {block.items.map((item, index) => (
            <li key={index} data-depth={item.depth}>
              <span class="markdown-marker">{item.marker}</span>
              <span>{item.content.map(renderInline)}</span>
            </li>
          ))}
        </ul>
      )
    case 'rule':
      return <hr key={key} />
  }
}

function renderInline(inline: Inline, key: number): VNode {
  switch (inline.kind) {
    case 'text':
      return <span key={key}>{visibleText(inline.text)}</span>
    case 'code':
      return <code key={key}>{visibleText(inline.text)}</code>
    case 'strong':
      return <strong key={key}>{inline.content.map(renderInline)}</strong>
    case 'emphasis':
      return <em key={key}>{inline.content.map(renderInline)}</em>
    case 'link':
      return <Link key={key} target={inline.target} text={inline.text} />
  }
}

export function CodeBlock(props: { readonly language: string; readonly text: string }): VNode {
  const { language, text } = props
  return (
    <figure class="code-block">
      <figcaption>
        <span>{language === '' ? 'code' : visibleText(language)}</span>
        <CopyButton text={text} />
      </figcaption>
      <pre tabIndex={0} role="group" aria-label={language === '' ? 'Code' : `Code, ${language}`}>
        <code>{visibleText(text)}</code>
      </pre>
    </figure>
  )
}

const COPIED_MS = 1500

export function CopyButton({ text }: { readonly text: string }): VNode {
  const [label, setLabel] = useState('copy')
  useEffect(() => {
    if (label === 'copy') return
    const timer = window.setTimeout(() => setLabel('copy'), COPIED_MS)
    return () => window.clearTimeout(timer)
  }, [label])
  return (
    <button
      type="button"
      class="text-button"
      onClick={() => {
        navigator.clipboard.writeText(text).then(
          () => setLabel('copied'),
          () => setLabel('not allowed'),
        )
      }}
    >
      {label}
    </button>
  )
}

/** Only these are opened; `javascript:`, `file:` and all others stay text. */
const OPENS = /^(?:https?:\/\/|mailto:)\S+$/i

function Link({ target, text }: { readonly target: string; readonly text: string }): VNode {
  const [isOpen, setOpen] = useState(false)
  const label = visibleText(text)
  const shown = visibleText(target)
  if (!OPENS.test(target))
    return (
      <span>
        {label}
        {label === shown || shown === '' ? null : <span class="muted"> ({shown})</span>}
      </span>
    )
  return (
    <>
      <button
        type="button"
        class="link-button"
        aria-expanded={isOpen}
        title={shown}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </button>
      {isOpen ? (
        <span class="link-target">
          <code>{shown}</code>{' '}
          <a href={target} target="_blank" rel="noreferrer noopener">
            open
          </a>{' '}
          <CopyButton text={target} />
        </span>
      ) : null}
    </>
  )
}
