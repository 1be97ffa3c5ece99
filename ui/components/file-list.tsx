// A list of changed files: one tab stop, Up and Down select. Long lists are shown in pages.
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { PathText } from './diff/file-bytes.js'
import { Author, Figures } from './text.js'

export type ListedFile = {
  readonly path: string
  readonly change: 'added' | 'removed' | 'modified' | 'type' | 'mode'
  readonly type?: 'file' | 'link' | 'folder'
  readonly insertions: number | null
  readonly deletions: number | null
  readonly author?: string | null
}

const WORDS: Readonly<Record<ListedFile['change'], string>> = {
  added: 'new',
  removed: 'removed',
  modified: '',
  type: 'other type',
  mode: 'mode',
}
/** More than this are shown on request: a build folder can have 100,000 files. */
const PAGE = 500
const KEYS: Readonly<Record<string, (at: number, length: number) => number>> = {
  ArrowDown: (at, length) => Math.min(length - 1, at + 1),
  ArrowUp: (at) => Math.max(0, at - 1),
  Home: () => 0,
  End: (_, length) => length - 1,
}

export function FileList(props: {
  readonly label: string
  readonly files: readonly ListedFile[]
  readonly selected: string | undefined
  readonly onSelect: (path: string) => void
}): VNode {
  const { label, files, selected, onSelect } = props
  const [limit, setLimit] = useState(PAGE)
  const list = useRef<HTMLDivElement>(null)
  const found = files.findIndex(({ path }) => path === selected)
  const shown = files.slice(0, Math.max(limit, found + 1))
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [selected])
  const onKeyDown = (event: KeyboardEvent) => {
    const next = shown[KEYS[event.key]?.(found, shown.length) ?? -1]
    if (next === undefined) return
    event.preventDefault()
    onSelect(next.path)
  }
  return (
    <div class="file-list">
      <div
        ref={list}
        role="listbox"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={found < 0 ? undefined : optionId(label, found)}
        onKeyDown={onKeyDown}
      >
        {shown.map((file, index) => (
          <div
            key={file.path}
            id={optionId(label, index)}
            role="option"
            class="file-row"
            data-path={file.path}
            data-change={file.change}
            aria-selected={index === found}
            onClick={() => onSelect(file.path)}
          >
            <PathText path={file.path} />
            {WORDS[file.change] === '' ? null : <span class="tag">{WORDS[file.change]}</span>}
            {file.type === 'folder' ? <span class="tag">folder</span> : null}
            <Figures insertions={file.insertions} deletions={file.deletions} />
            <Author name={file.author ?? null} />
          </div>
        ))}
      </div>
      {shown.length < files.length ? (
        <button class="button" type="button" onClick={() => setLimit(limit + PAGE)}>
          Show {Math.min(PAGE, files.length - shown.length)} more of{' '}
          {files.length.toLocaleString('en')}
        </button>
      ) : null}
    </div>
  )
}

function optionId(label: string, index: number): string {
  return `${label.replaceAll(/\W/g, '-')}-${index}`
}
