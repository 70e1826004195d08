import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { handOut } from './exchange.ts'
import type { Reached } from './exchange.ts'
import { OutboundError } from './outbound-deadlines.ts'
import { hostOf } from './target.ts'

/**
 * Opens a TLS connection to one of the given addresses for the time of `use`. Every failure is an
 * `OutboundError`.
 */
export async function dialTls<T>(
  { url, addresses, ending, ca }: Reached & { readonly ca: string | undefined },
  use: (socket: TLSSocket) => Promise<T>,
): Promise<T> {
  const host = hostOf(url)
  const socket = connect({
    host,
    port: Number(url.port === '' ? 443 : url.port),
    servername: host,
    lookup: handOut(addresses),
    // Regardless of `NODE_TLS_REJECT_UNAUTHORIZED`.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(ca !== undefined && { ca }),
  })
  const cut = () => void socket.destroy(ending.signal.reason as OutboundError)
  ending.signal.addEventListener('abort', cut, { once: true })
  // A failure after the first one must not end the process.
  socket.on('error', () => undefined)
  try {
    await secured(socket, addresses)
    ending.connected()
    return await ending.race(use(socket))
  } finally {
    ending.signal.removeEventListener('abort', cut)
    socket.destroy()
  }
}

function secured(socket: TLSSocket, addresses: Reached['addresses']): Promise<void> {
  return new Promise((resolve, reject) => {
    let code: 'connection_failed' | 'tls_failed' = 'connection_failed'
    socket.once('connect', () => {
      code = 'tls_failed'
      if (addresses.some(({ address }) => address === socket.remoteAddress)) return
      const refusal = 'the connection reached a different address than the resolved one'
      socket.destroy(new OutboundError('address_refused', refusal))
    })
    socket.once('secureConnect', () => resolve())
    socket.once('error', (error) =>
      reject(error instanceof OutboundError ? error : new OutboundError(code, SENTENCES[code])),
    )
    socket.once('close', () => reject(new OutboundError(code, SENTENCES[code])))
  })
}

const SENTENCES = {
  connection_failed: 'the connection to the host failed',
  tls_failed: 'the TLS certificate of the host is not trusted or TLS failed',
}
