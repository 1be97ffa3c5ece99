// Our imports from the official library, with its zod. The build puts this into a separate file, which only `savestate mcp`
// loads: bundled with the rest, it would make the zod of all other commands larger.
export {
  type CallToolResult,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  type ResourceTemplateType,
  Server,
  type Transport,
} from '@modelcontextprotocol/server'
export { serveStdio } from '@modelcontextprotocol/server/stdio'
export { z } from 'zod'
