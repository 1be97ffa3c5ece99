export {
  type DaemonLock,
  daemonLockHolder,
  storeHome,
  acquireDaemonLock,
} from './daemon-lock.js'
export type { Encryption, KeyInput } from './encryption-keys.js'
export type { RemoteInput } from './open-remote.js'
export { defaultHome, type StoreOptions } from './open-context.js'
