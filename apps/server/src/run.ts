import { ConfigError, readConfig } from './config.ts'
import { createServer } from './serve.ts'

/** Serves until SIGTERM or SIGINT; a setting that cannot be used ends the process with status 78. */
export async function run(env: NodeJS.ProcessEnv = process.env): Promise<void> {
  try {
    const server = await createServer(readConfig(env))
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        void server.stop().then(() => process.exit(0))
      })
    }
  } catch (error) {
    process.stderr.write(error instanceof ConfigError ? `${error.message}\n` : `${error instanceof Error ? error.stack : String(error)}\n`)
    // sysexits.h: EX_CONFIG
    process.exit(error instanceof ConfigError ? 78 : 1)
  }
}
