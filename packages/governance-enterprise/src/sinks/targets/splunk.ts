import { requireSuccess } from './target.ts'
import type { Send } from './target.ts'

/** Posts a batch to the HTTP Event Collector of Splunk, as events one after the other. */
export const sendSplunk: Send = async (outbound, { url, token = '', index }, batch) => {
  const events = batch.records.map(({ entry, document }) => ({
    time: Date.parse(entry.recorded_at) / 1000,
    source: batch.origin,
    sourcetype: `remit:${batch.format === 'remit' ? 'ledger' : batch.format}`,
    ...(index !== undefined && { index }),
    event: document,
  }))
  requireSuccess(
    await outbound.fetch(url, {
      method: 'POST',
      headers: { authorization: `Splunk ${token}`, 'content-type': 'application/json' },
      body: events.map((event) => JSON.stringify(event)).join('\n'),
    }),
  )
}
