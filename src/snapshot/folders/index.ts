export { isUnsafeFolder, refuseUnsafeFolder } from './refused-folders.js'
