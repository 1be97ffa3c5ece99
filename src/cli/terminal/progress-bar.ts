// One line on stderr with the progress of long work. Only on a terminal, and only after a second.
import type { Progress } from '../../index.js'
import { formatBytes, formatNumber } from './format-numbers.js'
import type { Terminal } from './screen.js'
import { cutEnd } from './text-width.js'

const SHOW_AFTER_MS = 1000
const BAR_WIDTH = 24
const UNITS = {
  store: 'files',
  check: 'objects checked',
  import: 'checkpoints',
  index: 'checkpoints indexed',
  seal: 'rows',
}

export type ProgressBar = {
  update(progress: Progress): void
  /** Hides the bar for the next second. */
  erase(): void
}

export function progressBar({
  stderr: output,
  env,
}: Pick<Terminal, 'stderr' | 'env'>): ProgressBar {
  if (output.isTTY !== true || env['TERM'] === 'dumb') {
    return { update: () => undefined, erase: () => undefined }
  }
  let startMs = Date.now()
  let isShown = false
  return {
    update(progress) {
      if (Date.now() - startMs < SHOW_AFTER_MS) return
      isShown = true
      output.write(`\r${cutEnd(progressText(progress), (output.columns || 80) - 1)}\u001b[K`)
    },
    erase() {
      if (isShown) output.write('\r\u001b[K')
      isShown = false
      startMs = Date.now()
    },
  }
}

export function progressText({ phase, files, bytes: done, of }: Progress): string {
  if (phase === 'scan') return `Scanning the folder: ${formatNumber(files)} files`
  const filled = of === 0 ? 0 : Math.min(BAR_WIDTH, Math.floor((files / of) * BAR_WIDTH))
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  const unit = UNITS[phase]
  const size = phase === 'store' ? `, ${formatBytes(done)}` : ''
  return `${bar} ${formatNumber(files)} of ${formatNumber(of)} ${unit}${size}`
}
