// Asks for one report in a process of its own and prints its content: node … <url> <key> <pem> <body>
import { createPrivateKey } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { createClock, createTestRemit } from '@remit/testing'
import compliance from '../../src/index.ts'

const [url = '', key = '', pem = '', body = '', now = ''] = process.argv.slice(2)
const remit = await createTestRemit({
  url,
  modules: [compliance],
  signingKey: createPrivateKey(pem),
  clock: createClock(now),
})
const answer = await remit.call('POST', '/v1/compliance/reports', { key, body })
const id = answer.headers.get('location')?.split('/').at(-1)
const get = (query: string) => remit.call('GET', `/v1/compliance/reports/${id}${query}`, { key })
while ((await get('?format=csv')).status === 409) await setTimeout(100)
const csv = await get('?format=csv')
const { content_sha256 } = (await (await get('')).json()) as { content_sha256: string }
const environment = { zone: new Date(0).getTimezoneOffset(), sorted: ['ı', 'i', 'I'].toSorted() }
process.stdout.write(JSON.stringify({ content_sha256, csv: await csv.text(), environment }))
await remit.close()
