import type { SinkType } from '@remit/contract'
import type { Outbound } from '@remit/core/net'
import type { WholeTarget } from '../secrets.ts'
import { sendHttps } from './https.ts'
import { sendOtlp } from './otlp.ts'
import { sendS3 } from './s3.ts'
import { sendSplunk } from './splunk.ts'
import { sendSyslog } from './syslog.ts'
import type { Batch, Send } from './target.ts'

const SENDERS: Readonly<Record<SinkType, Send>> = {
  otlp: sendOtlp,
  https: sendHttps,
  splunk_hec: sendSplunk,
  syslog: sendSyslog,
  s3: sendS3,
}

/** Sends a batch to the receiver of a sink. Rejects with `SinkFailure` or `OutboundError`. */
export function sendBatch(
  outbound: Outbound,
  type: SinkType,
  target: WholeTarget,
  batch: Batch,
): Promise<void> {
  if (batch.records.length === 0) return Promise.resolve()
  const { ca } = target
  return SENDERS[type](ca === undefined ? outbound : outbound.with({ ca }), target, batch)
}
