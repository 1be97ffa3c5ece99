// Changes a folder as fast as it can, at random: node watch-storm.mjs FOLDER SEED COUNT
import * as fs from 'node:fs'

const [folder = '', seed = '1', count = '1000'] = process.argv.slice(2)
let state = Number(seed) * 2_654_435_761 + 1
const below = (limit) => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
  return Math.floor((state / 2_147_483_648) * limit)
}
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const path = () =>
  [folder, ...Array.from({ length: 1 + below(3) }, () => NAMES[below(NAMES.length)])].join('/')

const acts = [
  () => fs.writeFileSync(path(), `${seed} ${below(1000)}`),
  () => fs.appendFileSync(path(), 'more'),
  () => fs.renameSync(path(), path()),
  () => fs.mkdirSync(path(), { recursive: true }),
  () => fs.unlinkSync(path()),
  () => fs.chmodSync(path(), 0o700 + below(8)),
  () => fs.symlinkSync(path(), path()),
  () => below(20) === 0 && fs.rmSync(path(), { recursive: true }),
]
for (let i = 0; i < Number(count); i++) {
  try {
    acts[below(acts.length)]?.()
  } catch {
    // Other processes change the same names: it was a folder, was gone, or already existed.
  }
}
