export type { Blamed, BlamedFile, BlameRequest } from './trace-lines.js'
