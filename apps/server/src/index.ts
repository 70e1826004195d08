export { ConfigError, readConfig } from './config.ts'
export type { Config } from './config.ts'
export { createServer } from './serve.ts'
export type { RunningServer, ServerOptions } from './serve.ts'
