export { KEY_TABLES } from './key-tables.js'
export {
  checkpointContext,
  graphContext,
  partialContext,
  sessionContext,
  toolContext,
  writeContext,
} from './seal-context.js'
export { isSealed, KEY_BYTES, keyIdOf, type SealContext, SealingKey } from './sealing-key.js'
export { openForDisplay, openText, refuseSealed, sealText } from './texts.js'
export { type GivenKeys, NO_VAULT, StoreVault, type Vault } from './vault.js'
