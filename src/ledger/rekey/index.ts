export { Rekey, type RekeyPlan, removeHalfRekeyed, type Target } from './rekey.js'
