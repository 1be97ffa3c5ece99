export { type OutsideEffect, outsideEffects } from './outside-effects.js'
