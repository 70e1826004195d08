import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

/** A message as it came. */
export interface Mail {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and body, decoded from quoted-printable. */
  readonly content: string
}

/** A mail server without TLS that takes one user. */
export interface MailServer extends AsyncDisposable {
  readonly url: string
  readonly received: readonly Mail[]
  /** The user names that clients have sent. */
  readonly users: readonly string[]
  /** Refuses recipients with this code until it is null. */
  refuses: number | null
}

const USER = { name: 'remit', password: 'p@ss/word' }

export async function startMailServer(host = '127.0.0.1'): Promise<MailServer> {
  const received: Mail[] = []
  const users: string[] = []
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username = '', password }, _, done) {
      users.push(username)
      const isKnown = username === USER.name && password === USER.password
      done(isKnown ? null : new Error('unknown'), isKnown ? { user: username } : undefined)
    },
    onRcptTo(_address, _session, done) {
      const { refuses } = mail
      done(refuses === null ? null : Object.assign(new Error('no'), { responseCode: refuses }))
    },
    onData(stream, { envelope }, done) {
      let content = ''
      stream.setEncoding('utf8')
      stream.on('data', (chunk: string) => (content += chunk))
      stream.on('end', () => {
        received.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          content: decoded(content),
        })
        done()
      })
    },
  })
  server.on('error', () => undefined)
  server.listen(0, host)
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  const user = `${USER.name}:${encodeURIComponent(USER.password)}`
  const mail: MailServer = {
    url: `smtp://${user}@${host}:${port}`,
    received,
    users,
    refuses: null,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
      }),
  }
  return mail
}

const decoded = (content: string): string =>
  content
    .replaceAll('=\r\n', '')
    .replaceAll(/(?:=[\dA-F]{2})+/g, (bytes) =>
      Buffer.from(bytes.replaceAll('=', ''), 'hex').toString(),
    )
