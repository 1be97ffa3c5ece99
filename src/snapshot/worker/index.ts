export type { NamedPaths } from './capture-requests.js'
