// Prints the origin of each line of a file.
import { SavestateError } from '../../index.js'
import { command } from '../runtime/command.js'
import { projectPaths } from '../runtime/path-arguments.js'
import { blameText } from '../render/blame-text.js'

export const run = command({
  isPaged: true,
  async call(request) {
    const range = request.options.text('L')
    const limits = range === undefined ? {} : parseRange(range)
    const [path = ''] = await projectPaths(request, [request.argument(0)])
    return (await request.project()).blame(path, { ...limits, ...request.hooks })
  },
  async render({ lines }, request) {
    if (lines.length === 0) return 'The file is empty.'
    const ids = [...new Set(lines.flatMap(({ checkpoint }) => checkpoint ?? []))]
    const shortIds = await (await request.store()).shortIds(ids)
    return blameText(lines, { screen: request.screen, shortIds })
  },
})

/** As in git: `A,B`, `A,+N`, `A,-N`, `A` and `,B`. */
function parseRange(range: string): { readonly from: number; readonly to?: number } {
  const [, first = '', comma = '', sign = '', last = ''] =
    /^(\d*)(?:(,)([+-]?)(\d*))?$/.exec(range) ?? []
  const isGiven = first !== '' || last !== ''
  const start = first === '' ? 1 : Number(first)
  const count = Number(last)
  const isCounted = sign !== ''
  if (!isGiven || start < 1 || (isCounted && count < 1) || (last !== '' && count < 1))
    throw new SavestateError('BAD_INPUT', `-L takes lines such as 10,20 or 10,+5, not "${range}"`)
  if (comma === '' || last === '') return { from: start }
  if (sign === '+') return { from: start, to: start + count - 1 }
  const end = sign === '-' ? Math.max(1, start - count + 1) : count
  return { from: Math.min(start, end), to: Math.max(start, end) }
}
