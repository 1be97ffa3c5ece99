import { command } from '../command.js'
import { detailsText } from '../details-text.js'

export const run = command({
  call: async ({ project, argument, hooks }) => (await project()).show(argument(0), hooks),
  render: async (details, { store, screen }) =>
    detailsText(details, { screen, home: (await store()).home }),
})
