export type { BisectCheck, BisectResult, BisectRun, BisectStep } from './bisect.js'
