// Light, dark, or as the system says. The choice stays in this browser.
import { signal } from '@preact/signals'

const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]
const KEY = 'savestate-theme'

export const theme = signal<Theme>(
  THEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'system',
)

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.peek()
}

export function nextTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.peek()) + 1) % THEMES.length] ?? 'system'
  theme.value = next
  localStorage.setItem(KEY, next)
  applyTheme()
}
