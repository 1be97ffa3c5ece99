// Lets the user pick a checkpoint, with a preview of the changes. Computes one preview at a time, for the highlighted row.
import type { Paint } from '../terminal/colors.js'
import { type Display, enterAlternateScreen, type Keyboard } from './alternate-screen.js'
import type { PickerGroup, PickerRow } from './picker-items.js'
import { pickerLines } from './picker-lines.js'
import { type Choice, openPicker, type Picker, press, resize, targetOf } from './picker-state.js'
import type { Preview } from './picker-lines.js'

const PREVIEW_DELAY_MS = 120

type Picking = {
  readonly groups: readonly PickerGroup[]
  readonly usual: Picker['usual']
  readonly keyboard: Keyboard
  readonly display: Display
  readonly paint: Paint
  /** Previews the changes of going to this checkpoint; `row` is the highlighted one. */
  readonly preview: (id: string, row: PickerRow) => Promise<Preview>
}

/** Null if the user quits. */
export function pick(picking: Picking): Promise<Choice | null> {
  const { groups, usual, paint } = picking
  const previews = new Map<string, Preview>()
  let isComparing = false
  let timer: NodeJS.Timeout | undefined
  return new Promise((resolve, reject) => {
    const screen = enterAlternateScreen(picking, {
      key(key) {
        picker = press(picker, key)
        if (picker.choice === undefined) show()
        else end(() => resolve(picker.choice ?? null))
      },
      redraw() {
        picker = resize(picker, screen.size())
        show()
      },
    })
    let picker = openPicker(groups, { size: screen.size(), usual })
    const end = (finish: () => void) => {
      clearTimeout(timer)
      screen.leave()
      finish()
    }
    const show = () => {
      const target = targetOf(picker)
      const preview = target === undefined ? undefined : previews.get(target.id)
      screen.draw(pickerLines(picker, { preview, paint }))
      clearTimeout(timer)
      // While the user scrolls, no preview is computed.
      if (target !== undefined && preview === undefined && !isComparing)
        timer = setTimeout(
          () => void compare(target).catch((error) => end(() => reject(error))),
          PREVIEW_DELAY_MS,
        )
    }
    const compare = async ({ id, row }: { readonly id: string; readonly row: PickerRow }) => {
      isComparing = true
      previews.set(id, await picking.preview(id, row))
      isComparing = false
      if (picker.choice === undefined) show()
    }
    show()
  })
}
