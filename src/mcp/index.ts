export { type McpService, serveMcp } from './server.js'
