// All that is used of the official library, with the zod that it needs. The build puts it into a file of its own, which only
// `savestate mcp` loads: bundled with the rest, it would make the zod of all other commands larger.
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
