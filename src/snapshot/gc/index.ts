export { bytesOf, listObjectFiles } from './object-sizes.js'
export { type Collected, collectObjects } from './collect-objects.js'
export { reachableFrom, readObjectGraph } from './object-graph.js'
export { removeRefs, scanRefs, setRefs } from './refs.js'
