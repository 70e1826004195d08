import type { Server } from 'node:http'
import { serve as listen } from '@hono/node-server'
import { createRemit } from '@remit/core'
import type { Remit } from '@remit/core'
import { banner } from './banner.ts'
import { bootOptions } from './boot.ts'
import type { BootOptions } from './boot.ts'
import { bootstrap } from './bootstrap.ts'
import type { Config } from './config.ts'
import { answerBrokenRequests } from './broken-requests.ts'

export interface RunningServer {
  readonly url: string
  readonly remit: Remit
  /** Stops accepting, finishes what is under way, closes. */
  stop(): Promise<void>
}

const MAX_HEADER_BYTES = 16 * 1024
const REQUEST_MS = 30_000
const STOP_MS = 25_000

/** Boots and listens; resolves when requests are answered. */
export async function createServer(config: Config, options: BootOptions = {}): Promise<RunningServer> {
  const boot = await bootOptions(config, options)
  const remit = await createRemit(boot)
  const first = await bootstrap(config, boot)
  const { log } = boot
  const server = await start(remit.app, config.REMIT_HOST, config.REMIT_PORT)
  const apart = config.REMIT_METRICS_PORT === undefined ? [] : [await start(remit.metricsApp, config.REMIT_HOST, config.REMIT_METRICS_PORT)]
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : config.REMIT_PORT
  const url = `http://${config.REMIT_HOST === '127.0.0.1' ? 'localhost' : config.REMIT_HOST}:${port}`
  log.info({ url, edition: boot.settings.edition, database: config.REMIT_DATABASE_URL.split(':')[0] }, boot.notice)
  for (const warning of boot.warnings ?? []) log.warn(warning)
  process.stdout.write(banner({ url, notice: boot.notice, edition: boot.settings.edition, first }))
  let stopping: Promise<void> | null = null
  return { url, remit, stop: () => (stopping ??= stop([server, ...apart], remit)) }
}

function start(app: Pick<Remit['app'], 'fetch'>, hostname: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = listen(
      {
        fetch: app.fetch,
        hostname,
        port,
        overrideGlobalObjects: false,
        serverOptions: { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, keepAliveTimeout: 65_000 },
      },
      () => resolve(server),
    ) as Server
    server.once('error', reject)
    answerBrokenRequests(server)
  })
}

/** Requests under way are answered; what still hangs after 25 s is cut. */
async function stop(servers: readonly Server[], remit: Remit): Promise<void> {
  const cut = setTimeout(() => servers.forEach((server) => server.closeAllConnections()), STOP_MS)
  await Promise.all(servers.map(closed))
  clearTimeout(cut)
  await remit.close()
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}
