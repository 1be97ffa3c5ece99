import { comparisonText } from '../render/comparison-text.js'
import { command } from '../runtime/command.js'

export const run = command({
  call: async ({ project, argument, hooks }) =>
    (await project()).compare(argument(0), argument(1), hooks),
  render: (result, { screen, argument }) =>
    comparisonText(result, { names: [argument(0), argument(1)], screen }),
})
