export { isAllowed, mayRewind, setAllowed } from './allowed.js'
