export type { RepairContext, Problem } from './findings.js'
export type { DoctorResult } from './doctor.js'
export type { RepairResult, RepairStep } from './repair.js'
export type { VerifyResult } from './verify.js'
