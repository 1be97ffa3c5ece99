// One result of the search: a checkpoint with the words marked.
import type { VNode } from 'preact'
import { addressOf, checkpointPath, followLink } from '../../app/router.js'
import { Author, Figures, relativeTime, visibleText } from '../../components/text.js'
import { excerpt, type Found, markWords } from './find.js'

const MAX_TEXT = 160
const MAX_PATHS = 5
const MAX_LINES = 3

export function Result({
  found,
  words,
}: {
  readonly found: Found
  readonly words: readonly string[]
}): VNode {
  const { row, prompt, paths, lines } = found
  const { id, name, reason, createdAt, author, files, insertions, deletions } = row
  const isPrompt = reason?.startsWith('You: ') === true
  const title = reason ?? (name === null ? '(no message)' : '')
  // The reason has only the start of a long prompt.
  const whole = prompt !== null && hasMore(prompt, title, words) ? prompt : undefined
  return (
    <li class="search-result" data-id={id} data-prompt={isPrompt}>
      <a href={addressOf(checkpointPath(id))} onClick={followLink}>
        <span class="search-title">
          {row.damaged === true ? (
            <span class="search-badge" data-kind="danger">
              damaged
            </span>
          ) : null}
          {row.pinned ? <span class="search-badge">pinned</span> : null}
          {name === null ? null : (
            <span class="search-badge">
              <Marked text={name} words={words} />
            </span>
          )}
          <Marked text={excerpt(title, words, MAX_TEXT)} words={words} />
        </span>
        <span class="search-facts">
          <Author name={author} />
          {files > 0 ? <Figures insertions={insertions} deletions={deletions} /> : null}
          <time dateTime={createdAt} title={new Date(createdAt).toLocaleString()}>
            {relativeTime(createdAt)}
          </time>
        </span>
        {whole === undefined ? null : (
          <span class="search-prompt">
            <Marked text={excerpt(whole, words, 2 * MAX_TEXT)} words={words} />
          </span>
        )}
        {[...new Set(lines)].slice(0, MAX_LINES).map((line) => (
          <span key={line} class="search-prompt">
            <Marked text={line} words={words} />
          </span>
        ))}
        {paths.length === 0 ? null : (
          <span class="search-paths">
            {paths.slice(0, MAX_PATHS).map((path) => (
              <code key={path}>
                <Marked text={path} words={words} />
              </code>
            ))}
            {paths.length > MAX_PATHS ? <span>and {paths.length - MAX_PATHS} more</span> : null}
          </span>
        )}
      </a>
    </li>
  )
}

function hasMore(prompt: string, title: string, words: readonly string[]): boolean {
  const [long, short] = [prompt.toLowerCase(), title.toLowerCase()]
  return words.some((word) => long.includes(word) && !short.includes(word))
}

function Marked({
  text,
  words,
}: {
  readonly text: string
  readonly words: readonly string[]
}): VNode {
  return (
    <>
      {markWords(text, words).map((segment, index) =>
        segment.isHit ? (
          <mark key={index}>{visibleText(segment.text)}</mark>
        ) : (
          visibleText(segment.text)
        ),
      )}
    </>
  )
}
