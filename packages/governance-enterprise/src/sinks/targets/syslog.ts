import type { TLSSocket } from 'node:tls'
import type { Entry } from '@remit/contract'
import { urlOfTarget } from '../secrets.ts'
import { isRefusal, SinkFailure } from './target.ts'
import type { Send, SinkRecord } from './target.ts'

/**
 * Sends a batch as syslog messages (RFC 5424) over TLS with octet counting (RFC 5425). The protocol
 * has no acknowledgements, so each batch has a connection: the receiver closes it after it has read
 * everything, and only then the batch counts as sent.
 */
export const sendSyslog: Send = (outbound, target, { records }) =>
  outbound.connect(urlOfTarget('syslog', target), (socket) =>
    untilClosed(socket, Buffer.concat(records.map(frameOf))),
  )

async function untilClosed(socket: TLSSocket, bytes: Buffer): Promise<void> {
  const ended = new Promise<void>((resolve, reject) => {
    socket.once('end', resolve)
    socket.once('error', () => reject(new SinkFailure('not_acknowledged', null)))
    socket.once('close', () => reject(new SinkFailure('not_acknowledged', null)))
  })
  // Without a reader, the end of the other side is never seen.
  socket.resume()
  socket.end(bytes)
  await ended
  if (socket.writableLength > 0) throw new SinkFailure('not_acknowledged', null)
}

function frameOf({ entry, document }: SinkRecord): Buffer {
  const message = Buffer.from(messageOf(entry, JSON.stringify(document)))
  return Buffer.concat([Buffer.from(`${message.length} `), message])
}

/** The facility "log audit". */
const AUDIT = 13 * 8
const WARNING = 4
const INFORMATIONAL = 6
/** Longest MSGID. */
const MAX_ID = 32

/** Formats a message: header, no structured data, the document. */
const messageOf = (entry: Entry, text: string): string => {
  const priority = AUDIT + (isRefusal(entry) ? WARNING : INFORMATIONAL)
  return `<${priority}>1 ${entry.recorded_at} - remit - ${entry.kind.slice(0, MAX_ID)} - ${text}`
}
