export { type IndexedCheckpoint, SearchIndex } from './search-index.js'
export { type SearchKey, SearchRows } from './search-rows.js'
