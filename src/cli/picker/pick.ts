// Lets a person pick a checkpoint, with a look at what each would change. One look at a time, and only for what is highlighted.
import type { Paint } from '../paint.js'
import { type Display, enterAlternateScreen, type Keyboard } from './alternate-screen.js'
import { type Preview, pickerLines } from './picker-lines.js'
import {
  highlighted,
  openPicker,
  type Picker,
  type PickerRow,
  press,
  resized,
} from './picker-state.js'

const CALM_MS = 120

export type Picking = {
  readonly rows: readonly PickerRow[]
  readonly usual: Picker['usual']
  readonly keyboard: Keyboard
  readonly display: Display
  readonly paint: Paint
  /** What going back to it would change. */
  readonly look: (row: PickerRow) => Promise<Preview>
}

/** Null if they want nothing. */
export function pick(picking: Picking): Promise<NonNullable<Picker['choice']> | null> {
  const { rows, usual, paint, look } = picking
  const previews = new Map<string, Preview>()
  let isLooking = false
  let timer: NodeJS.Timeout | undefined
  return new Promise((resolve, reject) => {
    const screen = enterAlternateScreen(picking, {
      key(key) {
        picker = press(picker, key)
        if (picker.choice === undefined) show()
        else end(() => resolve(picker.choice ?? null))
      },
      redraw() {
        picker = resized(picker, screen.size())
        show()
      },
    })
    let picker = openPicker(rows, { size: screen.size(), usual })
    const end = (settle: () => void) => {
      clearTimeout(timer)
      screen.leave()
      settle()
    }
    const show = () => {
      const row = highlighted(picker)
      const preview = row === undefined ? undefined : previews.get(row.id)
      screen.draw(pickerLines(picker, { preview, paint }))
      clearTimeout(timer)
      // Who runs through the list is not waiting for every row.
      if (row !== undefined && preview === undefined && !isLooking)
        timer = setTimeout(
          () => void lookAt(row).catch((error) => end(() => reject(error))),
          CALM_MS,
        )
    }
    const lookAt = async (row: PickerRow) => {
      isLooking = true
      previews.set(row.id, await look(row))
      isLooking = false
      if (picker.choice === undefined) show()
    }
    show()
  })
}
