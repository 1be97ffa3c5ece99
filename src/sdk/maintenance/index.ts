export { clearStore } from './clear.js'
export {
  type ClosedStoreOptions,
  type DoctorOptions,
  doctorStore,
  type RepairOptions,
  repairStore,
  verifyStore,
  type VerifyStoreOptions,
} from './damaged-store.js'
export type { Maintenance } from './store-maintenance.js'
