import { ndjson, requireSuccess } from './target.ts'
import type { Send } from './target.ts'

/** Posts a batch as newline-delimited JSON. */
export const sendHttps: Send = async (outbound, { url, headers }, batch) => {
  requireSuccess(
    await outbound.fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-ndjson' },
      body: ndjson(batch),
    }),
  )
}
