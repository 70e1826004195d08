import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOutbound } from '@remit/core/net'
import { createClock } from '@remit/testing/pure'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readNotes } from '../src/watch/checkpoint-files.ts'
import { createWatching } from './support/watching.ts'

test('a checkpoint is saved when the object store has locked a copy, and not before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'remit-locked-'))
  const objects: { url: string; headers: IncomingMessage['headers']; body: string }[] = []
  let status = 503
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url = '', headers } = request
      if (status === 200) objects.push({ url, headers, body: String(Buffer.concat(chunks)) })
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clock = createClock('2026-11-20T08:00:00.000Z')
  const bucket = {
    endpoint,
    bucket: 'checkpoints',
    region: 'eu-central-1',
    accessKeyId: 'AKID',
    secretAccessKey: 'secret',
  }
  const { remit, watch } = await createWatching({
    clock,
    log: pino({ level: 'silent' }),
    outbound: createOutbound({ allowLoopback: true }),
    settings: { checkpointDir: folder, checkpointBucket: { bucket, prefix: 'a/', lockDays: 30 } },
  })
  const { id } = await remit.organization()
  const saved = async () => {
    clock.advance(2 * 60 * 60_000)
    await watch.look()
    return (await readNotes(folder, id)).notes
  }

  expect(await saved()).toEqual([])
  status = 200
  const [note = ''] = await saved()

  expect(objects).toHaveLength(1)
  expect(objects[0]).toMatchObject({
    url: `/checkpoints/a/${id}/${note.split('\n')[1]?.padStart(16, '0')}.note`,
    body: note,
    headers: {
      'x-amz-object-lock-mode': 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': '2026-12-20T12:00:00.000Z',
      'content-md5': expect.stringMatching(/==$/) as unknown,
      authorization: expect.stringContaining('x-amz-object-lock-mode') as unknown,
    },
  })
  await remit.close()
  await new Promise((resolve) => server.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})
