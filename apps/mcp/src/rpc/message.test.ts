import { describe, expect, it } from 'vitest'
import { NotAMessage, readMessage } from './message.ts'

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
