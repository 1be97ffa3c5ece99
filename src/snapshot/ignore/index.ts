export { secretLines } from './secret-lines.js'
