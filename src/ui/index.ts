// The server of the page. Only `savestate ui` loads it.
export type { ExportResult } from './export/export-page.js'
export type { PageContext } from './methods/index.js'
export { type ServedPage, servePage, type ServePageOptions } from './server/serve-page.js'

/** Loaded only by `--export`. */
export const pageExport = () => import('./export/export-page.js')

/** The methods and what they need, loaded while the server already listens. */
export const pageMethods = () => import('./methods/index.js')
