export type { Activity } from './project-watch.js'
export { watchOwners } from './watch-folder.js'
