export { KEY_TABLES } from './key-tables.js'
export {
  checkpointPlace,
  graphPlace,
  partialPlace,
  sessionPlace,
  toolPlace,
  writePlace,
} from './seal-context.js'
export { isSealed, KEY_BYTES, keyIdOf, type Place, SealingKey } from './sealing-key.js'
export { openShown, openText, refuseSealed, sealText } from './texts.js'
export { type GivenKeys, NO_VAULT, StoreVault, type Vault } from './vault.js'
