export type {
  GraphCheckpoint,
  GraphPlace,
  GraphWrite,
  SerialValue,
  StoredGraphCheckpoint,
} from './thread-rows.js'
export type { GraphQuery } from './threads.js'
