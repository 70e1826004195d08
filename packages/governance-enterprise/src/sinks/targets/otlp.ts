import type { OutboundResponse } from '@remit/core/net'
import { isRefusal, requireSuccess, SinkFailure } from './target.ts'
import type { Batch, Send, SinkRecord } from './target.ts'

/** Posts a batch as OTLP logs over HTTP, in JSON. */
export const sendOtlp: Send = async (outbound, { url, headers }, batch) => {
  const answer = await outbound.fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(logsOf(batch)),
  })
  requireSuccess(answer)
  // A success can still name records that the receiver dropped.
  if (rejected(answer) > 0) throw new SinkFailure('partially_rejected', answer.status)
}

/** The body of an export request of OTLP 1.x. */
const logsOf = ({ orgId, origin, records }: Batch) => ({
  resourceLogs: [
    {
      resource: {
        attributes: attributesOf({
          'service.name': 'remit',
          'remit.org_id': orgId,
          'remit.origin': origin,
        }),
      },
      scopeLogs: [{ scope: { name: 'remit.ledger' }, logRecords: records.map(recordOf) }],
    },
  ],
})

function recordOf({ entry, document }: SinkRecord) {
  const nanos = String(BigInt(Date.parse(entry.recorded_at)) * 1_000_000n)
  const { trace_id: traceId, span_id: spanId } = entry.data ?? {}
  const severity = isRefusal(entry) ? WARN : INFO
  return {
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    ...severity,
    eventName: `remit.${entry.kind}`,
    body: valueOf(document),
    attributes: attributesOf({
      'remit.seq': entry.seq,
      'remit.kind': entry.kind,
      'remit.hash': entry.hash,
      ...(entry.agent_id !== null && { 'gen_ai.agent.id': entry.agent_id }),
    }),
    ...(isHex(traceId, 32) && { traceId }),
    ...(isHex(spanId, 16) && { spanId }),
  }
}

const INFO = { severityNumber: 9, severityText: 'INFO' }
const WARN = { severityNumber: 13, severityText: 'WARN' }

const isHex = (text: unknown, length: number): boolean =>
  typeof text === 'string' && text.length === length && /^[0-9a-f]+$/.test(text)

const attributesOf = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: valueOf(value) }))

/** A JSON value as an `AnyValue`; 64-bit integers are text. */
function valueOf(value: unknown): object {
  if (value === null || value === undefined) return {}
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (typeof value === 'string') return { stringValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(valueOf) } }
  return { kvlistValue: { values: attributesOf(value as Record<string, unknown>) } }
}

function rejected({ body }: OutboundResponse): number {
  try {
    const { partialSuccess } = JSON.parse(Buffer.from(body).toString('utf8')) as {
      partialSuccess?: { rejectedLogRecords?: string | number }
    }
    return Number(partialSuccess?.rejectedLogRecords ?? 0)
  } catch {
    return 0
  }
}
