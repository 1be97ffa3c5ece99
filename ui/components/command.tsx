// A command for the terminal, with a button that copies it.
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { visibleText } from './text.js'

const COPIED_MS = 2000

export function Command({ text }: { readonly text: string }): VNode {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = window.setTimeout(() => setState('idle'), COPIED_MS)
    return () => window.clearTimeout(timer)
  }, [state])
  const copy = () =>
    // The browser refuses it if the user has forbidden it; the text can be selected then.
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('refused'),
    )
  return (
    <span class="command">
      <code>{visibleText(text)}</code>
      <button type="button" class="button" onClick={() => void copy()}>
        {state === 'copied' ? 'Copied' : state === 'refused' ? 'Select it' : 'Copy'}
        <span class="visually-hidden"> the command</span>
      </button>
    </span>
  )
}
