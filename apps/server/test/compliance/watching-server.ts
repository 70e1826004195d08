/* A server of an installation whose watch looks every 100 ms. Says so once it serves. */
import { readConfig } from '../../src/settings/config.ts'
import { createServer } from '../../src/boot/serve.ts'

const server = await createServer(readConfig(process.env), { watchEveryMs: 100 })
process.stdout.write('serving\n')
process.on('SIGTERM', () => void server.stop().then(() => process.exit(0)))
