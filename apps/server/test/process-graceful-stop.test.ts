import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { gracefulStop, OpenResponses } from '../src/boot/listen.ts'
import { RawConnection } from './support/raw-http.ts'

test('an answer that had begun is finished, and its connection does not hold up the end', async () => {
  // An idle connection would keep the server for an hour.
  const server = createServer({ keepAliveTimeout: 3_600_000 })
  const asked = once(server, 'request') as Promise<[unknown, ServerResponse]>
  const stop = gracefulStop(server, new OpenResponses(server))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connection = new RawConnection(`http://127.0.0.1:${port}`)
  connection.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const [, response] = await asked
  response.write('begun, ')
  await connection.receives('begun, ')
  const stopped = stop()
  response.end('finished')
  await stopped

  expect(await connection.all()).toContain('finished')
})
