// A text field with suggestions, as in the combobox pattern of WAI-ARIA: Up and Down choose one, Enter takes it, Escape closes.
import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'

export type Suggestion = {
  readonly key: string
  readonly content: ComponentChildren
  readonly onTake: () => void
}

export function Combobox(props: {
  /** Unique in the page. */
  readonly id: string
  readonly label: string
  readonly text: string
  readonly placeholder?: string
  readonly suggestions: readonly Suggestion[]
  readonly onInput: (text: string) => void
  /** Enter, without a suggestion. */
  readonly onSubmit?: () => void
  /** Called when the field is left or closed with Escape. */
  readonly onClose?: () => void
}): VNode {
  const { id, label, text, suggestions, onInput, onClose } = props
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState(-1)
  const active = isOpen ? suggestions[at] : undefined
  const close = () => {
    setOpen(false)
    setAt(-1)
    onClose?.()
  }
  const take = ({ onTake }: Suggestion) => {
    setOpen(false)
    setAt(-1)
    onTake()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setOpen(true)
      setAt(Math.max(-1, Math.min(suggestions.length - 1, at + step)))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (active === undefined) props.onSubmit?.()
      else take(active)
    } else if (event.key === 'Escape') close()
  }
  const isShown = isOpen && suggestions.length > 0
  return (
    <div class="combobox">
      <input
        class="input"
        type="text"
        role="combobox"
        id={id}
        aria-label={label}
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active === undefined ? undefined : `${id}-${at}`}
        autocomplete="off"
        spellcheck={false}
        placeholder={props.placeholder}
        value={text}
        onInput={({ currentTarget }) => {
          setOpen(true)
          setAt(-1)
          onInput(currentTarget.value)
        }}
        onFocus={() => setOpen(true)}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      <ul
        class="combobox-list"
        role="listbox"
        id={`${id}-list`}
        aria-label={label}
        hidden={!isShown}
      >
        {(isShown ? suggestions : []).map((one, index) => (
          <li
            key={one.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === at}
            // The field must keep the focus until the click.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(one)}
          >
            {one.content}
          </li>
        ))}
      </ul>
    </div>
  )
}
