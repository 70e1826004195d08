import { describe, expect, it } from 'vitest'
import { legacyResult, modernResult, resultOf } from '../revisions/messages.ts'
import { NotAMessage, readMessage, readUpstream } from './message.ts'

const answerTo = (text: string): unknown => {
  try {
    return readMessage(Buffer.from(text))
  } catch (error) {
    if (error instanceof NotAMessage) return JSON.parse(error.answer)
    throw error
  }
}
const call = (rest: string) => `{"jsonrpc":"2.0","method":"tools/call",${rest}}`

describe('a request that readers take for different ones is answered with its id, and the member is named', () => {
  it.each([
    [
      'an integer that JSON cannot hold',
      call('"id":8,"params":{"name":"read","arguments":{"account":9007199254740993}}'),
      {
        id: 8,
        error: { code: -32700, message: /^params\.arguments\.account: .*9007199254740993/ },
      },
    ],
    [
      'one in a list',
      call('"id":"a","params":{"name":"x","arguments":{"list":[1,{"n":[2,1e400]}]}}'),
      { id: 'a', error: { code: -32700, message: /^params\.arguments\.list\.1\.n\.1: / } },
    ],
    [
      'a name twice',
      call('"id":9,"params":{"name":"read","arguments":{"a":1,"b":{"c":1},"a":2}}'),
      { id: 9, error: { code: -32700, message: /^params\.arguments\.a: .*twice/ } },
    ],
    [
      'a name twice, once with escapes',
      call(String.raw`"id":9,"params":{"name":"read","n\u0061me":"write"}`),
      { id: 9, error: { code: -32700, message: /^params\.name: .*twice/ } },
    ],
    [
      'colons and brackets in texts',
      call('"id":9,"params":{"name":"a:[{\\"","arguments":{"\\":{":9007199254740993}}'),
      { id: 9, error: { code: -32700, message: /^params\.arguments\.":\{: / } },
    ],
  ])('%s', (_, text, { id, error: { code, message } }) => {
    expect(answerTo(text)).toEqual({
      jsonrpc: '2.0',
      id,
      error: { code, message: expect.stringMatching(message) as string },
    })
  })
})

describe('a message has no id to answer with', () => {
  it.each([
    ['where the id is there twice', call('"id":1,"id":2,"params":{}')],
    ['where the id is inexact', call('"id":9007199254740993,"params":{}')],
    [
      'where it is a notification',
      '{"jsonrpc":"2.0","method":"notifications/x","params":{"n":1e400}}',
    ],
    ['where it is a response', '{"jsonrpc":"2.0","id":3,"result":{"n":9007199254740993}}'],
    ['where it is a list', '[{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":1e400}}]'],
    ['where it is no JSON', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"n":1e400}'],
  ])('%s', (_, text) => {
    expect(answerTo(text)).toMatchObject({ id: null, error: { code: -32700 } })
  })
})

describe.each([
  ['2025-11-25', legacyResult],
  ['2026-07-28', modernResult],
])('a result that becomes one of %s', (_, translated) => {
  it.each([
    '9007199254740993',
    '-1152921504606846976',
    '18446744073709551615',
    '1e400',
    '12345678901234567890.5',
    '0.1',
    '1e2',
  ])('has the number %s as the server wrote it, or its equal', (number) => {
    const text = `{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"n":[${number}]},"content":[]}}`
    const message = readUpstream(Buffer.from(text))
    if (message.kind !== 'response' || !message.result) throw new Error('no result')
    const { bytes } = resultOf(1, translated('tools/call', message.result))
    const [, written = ''] = /"n":\[([^\]]+)\]/.exec(bytes.toString()) ?? []

    expect(written === number || Number(written) === Number(number)).toBe(true)
    expect(/^-?\d{16,}$/.test(number) ? written : number).toBe(number)
  })
})
