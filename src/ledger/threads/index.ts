export type {
  GraphCheckpoint,
  GraphPlace,
  GraphWrite,
  SerialValue,
  StoredGraphCheckpoint,
} from './thread-rows.js'
export { type GraphQuery, threadDeletedError } from './threads.js'
