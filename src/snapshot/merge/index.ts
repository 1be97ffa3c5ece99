export type { Merged } from './merge-calls.js'
