/**
 * The MCP gateway as a library.
 *
 * @module
 */
export { run } from './cli/run.ts'
export { ConfigError } from './config/faults.ts'
export { readGatewayConfig } from './config/read.ts'
export type { GatewaySettings } from './config/read.ts'
export { createMcpGate } from './gate/create-mcp-gate.ts'
export type { McpGateOptions } from './gate/create-mcp-gate.ts'
export { serve } from './http/serve.ts'
export type { GatewayOptions } from './http/gateway.ts'
export type { RunningGateway } from './http/serve.ts'
