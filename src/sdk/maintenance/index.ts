export { clearStore } from './clear.js'
export {
  type CareOptions,
  doctorStore,
  repairStore,
  verifyStore,
} from './damaged-store.js'
