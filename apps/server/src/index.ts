export { ConfigError, readConfig } from './settings/config.ts'
export type { Config } from './settings/config.ts'
export { createServer } from './boot/serve.ts'
export type { RunningServer, ServerOptions } from './boot/serve.ts'
