export { isAllowed, mayRewind, setAllowed } from './allowed.js'
export { personNeed } from './person-only.js'
