/**
 * A server on stdio of the revision in `REVISION`, written by hand. When a resource is read, it tells every client
 * that all of its resources have changed, regardless of subscriptions. The text of a resource is the list of
 * the subscriptions.
 */
import { createInterface } from 'node:readline'

type Members = Record<string, unknown>

const { REVISION } = process.env
const META = 'io.modelcontextprotocol/'
const CHANGED = ['file:///open', 'file:///secret', 'file:///open/part']
const capabilities = { resources: { subscribe: true } }
const subscribed: unknown[] = []
const streams = new Set<unknown>()

const send = (message: Members) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

const tell = (method: string, params: Members, stream?: unknown) => {
  const of = stream === undefined ? {} : { _meta: { [`${META}subscriptionId`]: stream } }
  send({ method, params: { ...params, ...of } })
}

function resultOf(id: unknown, method: unknown, { uri, notifications }: Members): Members | null {
  switch (method) {
    case 'initialize':
      return { protocolVersion: REVISION, capabilities, serverInfo: { name: 't', version: '1' } }
    case 'server/discover':
      return { supportedVersions: [REVISION], capabilities }
    case 'resources/subscribe':
      subscribed.push(uri)
      return {}
    case 'resources/unsubscribe':
      subscribed.splice(subscribed.indexOf(uri), 1)
      return {}
    case 'subscriptions/listen': {
      const { resourceSubscriptions: uris = [] } = notifications as Members
      subscribed.splice(0, subscribed.length, ...(uris as unknown[]))
      streams.add(id)
      tell('notifications/subscriptions/acknowledged', { notifications }, id)
      return null
    }
    case 'resources/read':
      for (const stream of REVISION === '2025-11-25' ? [undefined] : streams)
        for (const changed of CHANGED)
          tell('notifications/resources/updated', { uri: changed }, stream)
      return { contents: [{ uri, text: JSON.stringify(subscribed) }] }
    default:
      return {}
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line) as Members
  if (id === undefined) return
  if (method === 'initialize' && REVISION !== '2025-11-25') {
    send({ id, error: { code: -32_601, message: 'There is no such method.' } })
    return
  }
  const result = resultOf(id, method, params as Members)
  if (result === null) return
  send({ id, result: REVISION === '2025-11-25' ? result : { resultType: 'complete', ...result } })
})
