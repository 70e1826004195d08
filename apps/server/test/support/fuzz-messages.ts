import fc from 'fast-check'

const BODY = '{"content":"hello"}'
const ROOM = 20_000

/** A message that the server takes: what the others are broken from. */
export const validMessage = (key: string, body = BODY): string =>
  [
    'POST /v1/guard HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')

/** Messages that are wrong in ways of their own, by what is wrong with them. */
export function wrongMessages(key: string): Readonly<Record<string, string>> {
  const valid = validMessage(key)
  const get = `GET /v1/scorers HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n`
  const line = (text: string) => `${text}\r\nHost: localhost\r\n\r\n`
  const chunked = (text: string) =>
    `${valid.slice(0, valid.indexOf('Content-Length'))}Transfer-Encoding: chunked\r\n\r\n${text}`
  const headed = (header: string) => `${get}${header}\r\n\r\n`
  return {
    'no request line': '\r\n\r\n\r\n',
    text: 'hello\r\n\r\n',
    'no version': line('GET /v1/scorers'),
    'another version': line('GET /v1/scorers HTTP/9.9'),
    'half a version': line('GET /v1/scorers HTTP/1'),
    'lower-case version': line('GET /v1/scorers http/1.1'),
    'HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'TLS hello': '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003',
    'unknown method': line('FETCH /v1/scorers HTTP/1.1'),
    'empty method': line(' /v1/scorers HTTP/1.1'),
    CONNECT: line('CONNECT localhost:80 HTTP/1.1'),
    TRACE: line('TRACE / HTTP/1.1'),
    'OPTIONS *': line('OPTIONS * HTTP/1.1'),
    'absolute target': line('GET http://other.example/v1/scorers HTTP/1.1'),
    'blank in the target': line('GET /v1/ scorers HTTP/1.1'),
    'control in the target': line('GET /v1/\u0001 HTTP/1.1'),
    'NUL in the target': line('GET /v1/\u0000 HTTP/1.1'),
    'bytes in the target': line('GET /v1/\u00ff\u00fe HTTP/1.1'),
    'no slash': line('GET v1/scorers HTTP/1.1'),
    'two slashes': line('GET //v1//scorers HTTP/1.1'),
    fragment: line('GET /v1/scorers#x HTTP/1.1'),
    'bracket host': 'GET /v1/scorers HTTP/1.1\r\nHost: [::1\r\n\r\n',
    'host with a path': 'GET /v1/scorers HTTP/1.1\r\nHost: a/b\r\n\r\n',
    'no host': 'GET /v1/scorers HTTP/1.1\r\n\r\n',
    'unknown expectation': headed('Expect: miracles'),
    'empty host': 'GET /v1/scorers HTTP/1.1\r\nHost:\r\n\r\n',
    'very long target': line(`GET /${'a'.repeat(ROOM)} HTTP/1.1`),
    'header without colon': headed('nonsense'),
    'header without name': headed(': x'),
    'blank before colon': headed('X-A : 1'),
    'folded header': headed('X-A: 1\r\n continued'),
    'NUL in a header': headed('X-A: \u0000'),
    'control in a header': headed('X-A: \u0007'),
    'bare carriage return': headed('X-A: a\rb'),
    'bare line feeds': get.replaceAll('\r\n', '\n') + '\n',
    'large header': headed(`X-A: ${'a'.repeat(ROOM)}`),
    'many headers': headed(Array.from({ length: 3_000 }, (_, i) => `X-${i}: 1`).join('\r\n')),
    'two hosts': headed('Host: other'),
    'two keys': headed('Authorization: Bearer x'),
    'length twice': valid.replace('Content-Length', 'Content-Length: 3\r\nContent-Length'),
    'length and chunks': valid.replace(
      'Content-Length',
      'Transfer-Encoding: chunked\r\nContent-Length',
    ),
    'negative length': valid.replace(/Content-Length: \d+/, 'Content-Length: -1'),
    'length that is no number': valid.replace(/Content-Length: \d+/, 'Content-Length: many'),
    'length with a sign': valid.replace('Content-Length: ', 'Content-Length: +'),
    'hexadecimal length': valid.replace(/Content-Length: \d+/, 'Content-Length: 0x13'),
    'endless length': valid.replace(/Content-Length: \d+/, `Content-Length: ${'9'.repeat(30)}`),
    'length of a gibibyte': valid.replace(/Content-Length: \d+/, 'Content-Length: 1073741824'),
    'body cut short': valid.slice(0, -3),
    'body too long': `${valid}rest`,
    'no length': valid.replace(/Content-Length: \d+\r\n/, ''),
    'unknown coding': valid.replace(/Content-Length: \d+/, 'Transfer-Encoding: gzip'),
    'chunked twice': chunked('0\r\n\r\n').replace('chunked', 'chunked, chunked'),
    'chunk size that is no number': chunked('zz\r\nhello\r\n0\r\n\r\n'),
    'negative chunk size': chunked('-5\r\nhello\r\n0\r\n\r\n'),
    'endless chunk size': chunked(`${'f'.repeat(20)}\r\nhello\r\n`),
    'chunk longer than its size': chunked('2\r\nhello\r\n0\r\n\r\n'),
    'chunk without an end': chunked(`${BODY.length.toString(16)}\r\n${BODY}\r\n`),
    'large chunk extension': chunked(`1;${'x'.repeat(ROOM)}\r\n{\r\n0\r\n\r\n`),
    'large trailer': chunked(`0\r\nX-A: ${'x'.repeat(ROOM)}\r\n\r\n`),
    'empty chunks': chunked('0\r\n\r\n'),
    'much too much': chunked(
      `${(1_100_000).toString(16)}\r\n${' '.repeat(1_100_000)}\r\n0\r\n\r\n`,
    ),
    compressed: valid.replace('Content-Type', 'Content-Encoding: gzip\r\nContent-Type'),
    'other charset': valid.replace('json', 'json; charset=utf-16'),
    'body that is no JSON': validMessage(key, 'hello'),
    'body that is no UTF-8': validMessage(key, '{"content":"\u00ff"}'),
    'body on a GET': `${get}Content-Length: 5\r\n\r\nhello`,
    'upgrade to a web socket': headed('Connection: Upgrade\r\nUpgrade: websocket'),
    'upgrade to HTTP/2': headed(
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
    ),
    'pipelined nonsense': `${get}\r\nnonsense\r\n\r\n`,
    'HTTP/1.0': line('GET /v1/nothing HTTP/1.0'),
    'nothing at all': '',
  }
}

/** A valid message with a few of its bytes changed, dropped, doubled or made up; as latin1 text. */
export const brokenMessage = (key: string): fc.Arbitrary<string> =>
  fc
    .array(
      fc.record({
        at: fc.nat(),
        how: fc.constantFrom('set', 'drop', 'double', 'cut', 'insert'),
        byte: fc.integer({ min: 0, max: 255 }),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((changes) =>
      changes.reduce((text, { at, how, byte }) => {
        const where = at % Math.max(1, text.length)
        const [before, here, after] = [
          text.slice(0, where),
          text.charAt(where),
          text.slice(where + 1),
        ]
        const made = String.fromCharCode(byte)
        if (how === 'set') return before + made + after
        if (how === 'drop') return before + after
        if (how === 'double') return before + here + here + after
        return how === 'cut' ? before : before + made + here + after
      }, validMessage(key)),
    )
