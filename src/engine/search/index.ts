export type { SearchHit, SearchMatch, SearchResult } from './search.js'
