export {
  contextOf,
  openColumn,
  openForDisplay,
  refuseSealed,
  SEALED_COLUMNS,
  sealColumn,
  type SealedColumn,
  textOf,
} from './sealed-columns.js'
export { KEY_BYTES, type SealContext, SealingKey } from './sealing-key.js'
export { type GivenKeys, KEY_TABLES, NO_VAULT, StoreVault, type Vault } from './vault.js'
