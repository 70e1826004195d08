/**
 * The MCP gateway as a library.
 *
 * @module
 */
export { run } from './cli/run.ts'
