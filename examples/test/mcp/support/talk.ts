import type { RemitServer } from '../../support/server.ts'
import { envelope } from './messages.ts'
import { gatewayArguments } from './gateway.ts'
import { linesOf, RawProgram } from './raw.ts'

type Members = Record<string, unknown>
type Revision = '2025-11-25' | '2026-07-28'

/** A client as messages: a test sees what the gateway sends, and no SDK answers in its place. */
export interface Talk {
  /** The response to a request. */
  readonly ask: (method: string, params?: Members) => Promise<Members>
  /** Its bytes; two talks number their requests alike. */
  readonly textOf: (method: string, params?: Members) => Promise<string>
  /** The messages that came before responses. */
  readonly notes: Members[]
  readonly close: () => Promise<unknown>
}

interface Opening {
  readonly revision: Revision
  readonly capabilities?: object
}

const handshake = (capabilities: object) => ({
  protocolVersion: '2025-11-25',
  capabilities,
  clientInfo: { name: 'raw', version: '1' },
})

/** Each request of 2026-07-28 has an envelope. */
const inRevision = ({ revision, capabilities = {} }: Opening, params: Members): Members =>
  revision === '2025-11-25'
    ? params
    : { ...params, _meta: { ...envelope(capabilities)['_meta'], ...(params['_meta'] as object) } }

export const talkOnStdio = (
  { url, org }: Pick<RemitServer, 'url' | 'org'>,
  server: readonly string[],
  opening: Opening,
  { flags, env }: { flags?: readonly string[]; env?: Record<string, string> } = {},
): Promise<Talk> =>
  talkWith(gatewayArguments(server, flags), opening, {
    REMIT_URL: url,
    REMIT_KEY: org.key,
    ...env,
  })

/** With a program on stdio. */
export async function talkWith(
  program: readonly string[],
  opening: Opening,
  env: Readonly<Record<string, string>> = {},
): Promise<Talk> {
  const child = new RawProgram(program, env)
  const notes: Members[] = []
  const open = new Map<unknown, (line: string) => void>()
  let ids = 0
  const read = async () => {
    for (;;) {
      const line = await child.line()
      if (line === undefined) return
      const message = JSON.parse(line) as Members
      const answered = message['method'] === undefined ? open.get(message['id']) : undefined
      if (answered) answered(line)
      else notes.push(message)
    }
  }
  if (opening.revision === '2025-11-25') await child.open(opening.capabilities)
  void read()
  const textOf = (method: string, params: Members = {}) =>
    new Promise<string>((resolve) => {
      const id = `raw-${++ids}`
      open.set(id, resolve)
      const message = { jsonrpc: '2.0', id, method, params: inRevision(opening, params) }
      child.write(JSON.stringify(message))
    })
  return {
    notes,
    textOf,
    ask: async (method, params) => JSON.parse(await textOf(method, params)) as Members,
    close: () => child.close(),
  }
}

/** On streamable HTTP; `secret` is the bearer of the client. */
export async function talkOnHttp(url: string, secret: string, opening: Opening): Promise<Talk> {
  const { revision, capabilities = {} } = opening
  const notes: Members[] = []
  let ids = 0
  let session: string | null = null
  const post = async (message: Members, headers: Record<string, string>) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': revision,
        ...(session !== null && { 'mcp-session-id': session }),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
    session ??= response.headers.get('mcp-session-id')
    return response
  }
  const textOf = async (method: string, params: Members = {}): Promise<string> => {
    const name = params['name'] ?? params['uri'] ?? params['taskId']
    const headers = {
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
    }
    const id = `raw-${++ids}`
    const response = await post(
      { id, method, params: inRevision(opening, params) },
      revision === '2025-11-25' ? {} : headers,
    )
    if (response.headers.get('content-type') !== 'text/event-stream') return response.text()
    for await (const data of eventsOf(response)) {
      const message = JSON.parse(data) as Members
      if (message['id'] === id) return data
      notes.push(message)
    }
    throw new Error('The stream ended without a response.')
  }
  const ask = async (method: string, params?: Members) =>
    JSON.parse(await textOf(method, params)) as Members
  if (revision === '2025-11-25') {
    await ask('initialize', handshake(capabilities))
    await post({ method: 'notifications/initialized' }, {})
    ids = 0
  }
  return { ask, textOf, notes, close: () => Promise.resolve() }
}

/** A text as the value of a header (2026-07-28). */
const headerValue = (text: string): string =>
  /^[\w:/.-]+$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`

/** The data of the events of a stream. */
async function* eventsOf(response: Response): AsyncGenerator<string> {
  let data: string[] = []
  for await (const line of linesOf(response.body!.pipeThrough(new TextDecoderStream())))
    if (line.startsWith('data: ')) data.push(line.slice('data: '.length))
    else if (line === '' && data.length > 0) {
      yield data.join('\n')
      data = []
    }
}
