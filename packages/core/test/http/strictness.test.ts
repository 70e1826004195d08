import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { problemOf, standIn } from './support.ts'

let remit: TestRemit
let key: string
beforeAll(async () => {
  remit = await createTestRemit({ modules: [standIn] })
  ;({ key } = await remit.organization())
})
afterAll(() => remit.close())

/** `through` when the request reached its handler, else the code of its refusal. */
async function outcome(
  body: object | string,
  headers: Record<string, string> = {},
  path = '/v1/authorize',
) {
  const sent =
    typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream
      ? body
      : JSON.stringify(body)
  const response = await remit.app.request(path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: sent,
    ...(body instanceof ReadableStream && { duplex: 'half' }),
  })
  const { code } = await problemOf(response)
  return code === 'decision_settled' ? 'through' : code
}

const ASK = { agent_id: 'a', action: 'b' }
const ask = (json: string) => `{"agent_id":"a","action":"b",${json}}`

describe('415', () => {
  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json ; charset="utf-8"',
  ])('takes %s', async (type) => {
    expect(await outcome(ASK, { 'content-type': type })).toBe('through')
  })

  it.each([
    '',
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/problem+json',
    'application/json; charset=latin1',
    'application/json, text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ])('refuses "%s"', async (type) => {
    expect(await outcome(ASK, { 'content-type': type })).toBe('unsupported_media_type')
  })
})

describe('413', () => {
  const MIB = 1024 * 1024
  const padded = (size: number) => JSON.stringify(ASK).padEnd(size, ' ')
  const chunked = (text: string) =>
    new Blob([text]).stream().pipeThrough(new TransformStream<Uint8Array, Uint8Array>())

  it.each([
    [
      'declared',
      (text: string) => text,
      (text: string) => ({ 'content-length': String(text.length) }),
    ],
    ['in chunks', chunked, () => ({})],
  ] as const)('takes 1 MiB and not a byte more, %s', async (_, body, headers) => {
    const [most, more] = [padded(MIB), padded(MIB + 1)]

    expect(await outcome(body(most), headers(most))).toBe('through')
    expect(await outcome(body(more), headers(more))).toBe('body_too_large')
  })

  it('stops reading a body that does not end', async () => {
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536))
      },
    })

    expect(await outcome(endless)).toBe('body_too_large')
    expect(sent).toBeLessThan(2 * MIB)
  })

  it('takes 8 MiB where results are scored', async () => {
    const more = '{}'.padEnd(8 * MIB + 1, ' ')

    expect(await outcome('{}'.padEnd(8 * MIB, ' '), {}, '/v1/scorers')).toBe('invalid_request')
    expect(await outcome(more, {}, '/v1/scorers')).toBe('body_too_large')
  })
})

describe('400 for what is not strict JSON', () => {
  it.each([
    ['nothing', ''],
    ['half an object', '{"agent_id":"a"'],
    ['two objects', '{}{}'],
    ['a comma too many', '{"agent_id":"a",}'],
    ['a comment', '{/* */}'],
    ['single quotes', "{'agent_id':'a'}"],
    ['NaN', ask('"context":{"amount_usd":NaN}')],
    ['Infinity', ask('"context":{"amount_usd":Infinity}')],
    ['a number beyond the range', ask('"context":{"amount_usd":1e400}')],
    ['a negative one', ask('"context":{"n":-1e400}')],
    ['a leading zero', ask('"context":{"n":01}')],
    ['a name twice', '{"agent_id":"a","agent_id":"a","action":"b"}'],
    ['a name twice, once escaped', '{"agent_id":"a","\\u0061gent_id":"a","action":"b"}'],
    ['a name twice further down', ask('"context":{"x":[{"y":1,"y":1}]}')],
    ['a lone surrogate', ask('"context":{"x":"\\ud800"}')],
    ['a lone surrogate as a name', ask('"context":{"\\udc00":1}')],
    ['surrogates the wrong way round', ask('"context":{"x":"\\udc00\\ud800"}')],
    ['U+0000', ask('"context":{"x":"\\u0000"}')],
    ['U+0000 in a name', ask('"context":{"a\\u0000":1}')],
    ['a line break in a string', ask('"context":{"x":"\n"}')],
  ])('%s', async (_, text) => {
    expect(await outcome(text)).toBe('invalid_json')
  })

  it.each([
    ['bytes that are not UTF-8', [0x22, 0xff, 0x22]],
    ['an overlong form', [0x22, 0xc0, 0x80, 0x22]],
    ['a surrogate in UTF-8', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['half a character', [0x22, 0xe2, 0x82, 0x22]],
  ])('%s', async (_, bytes) => {
    const [before, after] = ask('"context":{"x":?}').split('?')
    const text = Buffer.concat([
      Buffer.from(before ?? ''),
      Buffer.from(bytes),
      Buffer.from(after ?? ''),
    ])

    expect(await outcome(text)).toBe('invalid_json')
  })

  it.each(['null', '"text"', '1', 'true'])('%s, which is neither object nor list', async (text) => {
    expect(await outcome(text)).toBe('invalid_json')
  })

  it('a list, which is no object', async () => {
    expect(await outcome('[]')).toBe('invalid_request')
  })
})

describe('400 for unknown fields', () => {
  it.each(['Action', 'contex', 'dry_run', '__proto__', 'constructor', 'toString', ''])(
    '%j',
    async (name) => {
      expect(await outcome(ask(`${JSON.stringify(name)}:1`))).toBe('invalid_request')
    },
  )

  it('names every one of them', async () => {
    const response = await remit.call('POST', '/v1/authorize', {
      key,
      body: { ...ASK, contex: 1, dryrun: 2 },
    })

    expect((await problemOf(response)).errors).toEqual([
      { path: 'contex', message: 'is not a known field' },
      { path: 'dryrun', message: 'is not a known field' },
    ])
  })
})

describe('400 for unknown query parameters', () => {
  const refused = async (method: string, path: string, body?: object) => {
    const response = await remit.call(method, path, { key, ...(body && { body }) })
    return (await problemOf(response)).errors
  }

  it.each([
    ['GET', '/v1/scorers?limt=5', undefined],
    ['GET', '/v1/organization?limt=5', undefined],
    ['POST', '/v1/authorize?limt=5', ASK],
    ['DELETE', '/v1/policies/a?limt=5', undefined],
  ])('%s %s', async (method, path, body) => {
    expect(await refused(method, path, body)).toEqual([
      { path: 'limt', message: 'is not a known field' },
    ])
  })

  it('not where a standard says that they are ignored', async () => {
    const question = {
      subject: { type: 'user', id: 'a' },
      action: { name: 'b' },
      resource: { type: 'c', id: 'd' },
    }

    expect(await outcome(question, {}, '/access/v1/evaluation?limt=5')).toBe('through')
    expect((await remit.call('GET', '/.well-known/authzen-configuration?v=2')).status).toBe(409)
  })
})

describe('free-form objects', () => {
  const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) })
  const named = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, i]))
  // `{"x":"…"}` has 8 bytes beside the text.
  const sized = (bytes: number, character = 'x') => ({
    x: character.repeat((bytes - 8) / Buffer.byteLength(character)),
  })

  it.each([
    ['32 levels', nested(32), nested(33)],
    [
      '32 levels of lists',
      { a: JSON.parse('['.repeat(31) + ']'.repeat(31)) },
      { a: JSON.parse('['.repeat(32) + ']'.repeat(32)) },
    ],
    ['2,000 names', named(2000), named(2001)],
    [
      '2,000 names over all levels',
      { a: named(1000), b: named(998) },
      { a: named(1000), b: named(999) },
    ],
    ['64 KiB', sized(65_536), sized(65_537)],
    ['64 KiB of UTF-8', sized(65_536, 'é'), sized(65_538, 'é')],
    ['64 KiB with escapes', { x: '\n'.repeat(32_764) }, { x: '\n'.repeat(32_765) }],
  ])('have at most %s', async (_, most, more) => {
    expect(await outcome({ ...ASK, context: most })).toBe('through')
    expect(await outcome({ ...ASK, context: more })).toBe('invalid_request')
  })

  it('are limited wherever they occur', async () => {
    const resource = { type: 't', id: 'i', properties: nested(33) }

    expect(await outcome({ ...ASK, resource })).toBe('invalid_request')
    expect(await outcome({ action: 'a', metadata: nested(33) }, {}, '/v1/ledger')).toBe(
      'invalid_request',
    )
  })
})

describe('names', () => {
  it.each([
    ['one character', 'a'],
    ['256 characters', 'a'.repeat(256)],
    ['256 characters beyond the first plane', '🦊'.repeat(256)],
    ['inner blanks', 'my agent'],
    ['composed letters', 'caf\u00e9'],
    ['other scripts', 'агент-代理'],
    ['punctuation', 'urn:agent/x?y=1&z#(~)'],
  ])('may have %s', async (_, name) => {
    expect(await outcome({ agent_id: name, action: name, resource: name })).toBe('through')
  })

  it.each([
    ['nothing', ''],
    ['257 characters', 'a'.repeat(257)],
    ['a zero-width space', 'a\u200bb'],
    ['a zero-width joiner', 'a\u200db'],
    ['a direction mark', 'a\u202eb'],
    ['a byte order mark', '\ufeffa'],
    ['a soft hyphen', 'a\u00adb'],
    ['a tag character', 'a\u{e0061}'],
    ['a line break', 'a\nb'],
    ['a delete character', 'a\u007f'],
    ['a C1 control', 'a\u0085b'],
    ['decomposed letters', 'cafe\u0301'],
    ['a compatibility form that NFC changes', '\u212b'],
    ['a blank before', ' a'],
    ['a blank after', 'a '],
    ['a no-break space after', 'a\u00a0'],
    ['a wide space before', '\u3000a'],
    ['a pattern', 'a*'],
  ])('may not have %s', async (_, name) => {
    for (const field of ['agent_id', 'action'] as const) {
      expect(await outcome({ ...ASK, [field]: name })).toBe('invalid_request')
    }
    expect(await outcome({ ...ASK, resource: { type: 't', id: name } })).toBe('invalid_request')
    expect(await outcome({ ...ASK, resource: { type: name, id: 'i' } })).toBe('invalid_request')
  })
})
