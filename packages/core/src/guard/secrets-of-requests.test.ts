import { GuardRequest } from '@remit/contract'
import { sampled } from '@remit/testing/pure'
import { describe, expect, it } from 'vitest'
import { checkContent } from './guard.ts'
import { findPersonalData, findSecrets } from './secrets.ts'

const secretsIn = (text: string) =>
  findSecrets(text).map(({ detector, start, end }) => [detector, text.slice(start, end)])
const redactedOf = (content: string): string =>
  checkContent(GuardRequest.parse({ content, checks: ['secrets'] })).redacted ?? content
const base64 = (text: string) => Buffer.from(text).toString('base64')

// Put together here, so that no scanner takes this file for a leak.
const TOKEN = ['kQ7fT2xLw9', 'ZbR4mV8nYc'].join('')
const HEX = ['9f86d081884c7d65', '9a2feaa0c55ad015'].join('')
const BASIC = base64('api-user:Winter-3094')
const PASSWORD = ['tR7$kq', '!92zLw'].join('')
const SAS = `${['kQ7fT2xLw9ZbR4mV8nYc', 'H3sJ6dGp1AuE5oXqW0iN'].join('')}%3D`

describe('the credentials of a request are secrets, alone', () => {
  it.each([
    ['authorization', `Authorization: Basic ${BASIC}`, BASIC],
    ['authorization', `authorization: basic ${base64('kim:pw')}`, base64('kim:pw')],
    ['authorization', `Proxy-Authorization: Basic ${BASIC}`, BASIC],
    ['authorization', `{"authorization":"Basic ${BASIC}"}`, BASIC],
    ['authorization', `{\\"Authorization\\": \\"Basic ${BASIC}\\"}`, BASIC],
    ['authorization', `headers['Authorization'] = 'Basic ${BASIC}'`, BASIC],
    ['authorization', `["X-Forwarded-Auth", "Basic ${BASIC}"]`, BASIC],
    ['authorization', `curl -H 'authorization: Basic ${BASIC}' https://a.example`, BASIC],
    ['authorization', `GET /?authorization=Basic%20${BASIC} HTTP/1.1`, BASIC],
    ['authorization', `Authorization: token ${TOKEN}`, TOKEN],
    ['authorization', `Authorization: ApiKey ${TOKEN}`, TOKEN],
    ['authorization', `Authorization: GenieKey ${HEX}`, HEX],
    ['authorization', `Authorization: Negotiate ${base64(TOKEN + HEX)}`, base64(TOKEN + HEX)],
    ['authorization', `Authorization: ${TOKEN}`, TOKEN],
    ['authorization', `Digest Authorization: Digest username="kim", response="${HEX}"`, HEX],
    ['authorization', `Authorization: Custom realm=a,Signature=${TOKEN}`, TOKEN],
    ['authorization', `Authorization: Token token="${TOKEN}", realm="a"`, TOKEN],
    ['bearer_token', `Authorization: Bearer ${TOKEN}`, TOKEN],
    ['cookie', `Cookie: theme=dark; sid=${TOKEN}; lang=en`, TOKEN],
    ['cookie', `Set-Cookie: __Host-session=${HEX}; Path=/; HttpOnly; SameSite=Lax`, HEX],
    ['cookie', `{"cookie": "sid=${TOKEN}; theme=dark"}`, TOKEN],
    ['cookie', `curl --cookie "sid=${TOKEN}" https://a.example`, TOKEN],
    ['password', `curl -u kim:${PASSWORD} https://a.example`, PASSWORD],
    ['password', `curl -s -ukim:hunter2 https://a.example`, 'hunter2'],
    ['password', `curl https://a.example --user 'kim:${PASSWORD} 9'`, `${PASSWORD} 9`],
    ['password', `curl -x proxy --proxy-user=kim:${PASSWORD}|jq .`, PASSWORD],
    ['password', `curl https://a.example \\\n  -u "kim:${PASSWORD}" \\\n  -o a`, PASSWORD],
    ['api_key', `Ocp-Apim-Subscription-Key: ${HEX}`, HEX],
    ['api_key', `https://a.example/?subscription-key=${HEX}&q=1`, HEX],
    ['api_key', `x-functions-key: ${TOKEN}`, TOKEN],
    ['api_key', `consumer_key=${TOKEN}`, TOKEN],
    ['url_signature', `https://a.example/c?sv=2024-11-04&sp=r&sig=${SAS}&se=2027`, SAS],
    ['url_signature', `<Url>https://a.example/c?sv=1&amp;sig=${SAS}</Url>`, SAS],
    ['url_signature', `{"url":"https://a.example/c?sv=1\\u0026sig=${SAS}"}`, SAS],
    ['url_signature', `SharedAccessSignature=sv=1&sig=${SAS};Endpoint=a`, SAS],
    ['url_signature', `https://b.example/o?X-Amz-Signature=${HEX}${HEX}`, HEX + HEX],
  ])('%s: %s', (kind, text, secret) => {
    expect(secretsIn(text)).toEqual([[`secret.${kind}`, secret]])
  })

  it('several in one list are several secrets', () => {
    expect(secretsIn(`Cookie: a=${TOKEN}; b=1; c=${HEX}`).map(([, value]) => value)).toEqual([
      TOKEN,
      HEX,
    ])
  })

  it.each([
    'Authorization: Basic <credentials>',
    'Authorization: Basic ${credentials}',
    'Authorization: Bearer {token}',
    'authorization: required',
    'Authorization: AWS4-HMAC-SHA256 is a scheme',
    'authorization_endpoint: https://login.example/oauth2/v2.0/authorize',
    'Basic authentication is deprecated, basic instructions follow',
    'The cookie policy: 12 cookies, id=preferences-of-the-reader',
    'Cookie: theme=dark; lang=en-GB; consent=accepted-all-2026',
    `Cookie: csrftoken=${TOKEN}; XSRF-TOKEN=${TOKEN}`,
    'docker run -u 1000:1000 node',
    'chown -u kim:staff9 file; curl --version',
    'curl -u $USER:$PASSWORD https://a.example',
    'curl -u user:password https://a.example',
    'curl -u "<user>:<password>" https://a.example',
    'gpg --verify a.sig=detached',
    `{"signature": "${HEX}"}`,
    `System.Web, Version=4.0.0.0, Culture=neutral, PublicKeyToken=${HEX.slice(0, 16)}`,
    `<assemblyIdentity publicKeyToken="${HEX.slice(0, 16)}" />`,
    `ClientToken: ${TOKEN}`,
    `"client_token": "${HEX}"`,
    `csrf_token=${TOKEN}`,
    `<meta name="x" csrfToken="${TOKEN}">`,
    `X-CSRF-Token: ${TOKEN}`,
    `xsrf-token=${TOKEN}`,
    `authenticity_token=${TOKEN}`,
    `__RequestVerificationToken=${TOKEN}`,
    `idempotency_token: ${TOKEN}`,
  ])('not in: %s', (text) => {
    expect(secretsIn(text)).toEqual([])
  })
})

describe('redaction takes the value alone', () => {
  it.each([
    ['<add connectionString="Server=x;Uid=sa;Pwd=…"/>', 'password'],
    ['<add connectionString="Server=x;Uid=sa;Pwd=…" />', 'password'],
    ['<add connectionString=&quot;Uid=sa;Pwd=…&quot;/>', 'password'],
    ['<input password=…/>', 'password'],
    ["<?php $password = '…'?>", 'password'],
    ['<% password=…%>', 'password'],
    ['<a href="?password=…&amp;user=kim">', 'password'],
    ['(token=…)', 'api_key'],
    ['[see (token=…)]', 'api_key'],
    ['{token: …}', 'api_key'],
    ['login(kim, password=…)', 'password'],
    ['[a](https://a.example/?token=…)', 'api_key'],
    ['The token: ….', 'api_key'],
    ['The password: …. It is new.', 'password'],
    ['token=…;curl https://a.example', 'api_key'],
    ['password=…;curl https://a.example', 'password'],
    ['TOKEN=… make; echo done', 'api_key'],
    ['x=$(TOKEN=… make)', 'api_key'],
    ['kim,token=…,3', 'api_key'],
    ['["token=…","b"]', 'api_key'],
    ['- token: …\n- user: kim', 'api_key'],
  ])('and leaves what is around it: %s', (form, kind) => {
    const value = kind === 'password' ? 'Str0ng!Passw0rd' : TOKEN

    expect(redactedOf(form.replace('…', () => value))).toBe(form.replace('…', `[REDACTED:${kind}]`))
  })

  it.each([
    ['password=aB3)x9Kq)', 'aB3)x9Kq)'],
    ['(password=aB3(x9Kq))', 'aB3(x9Kq)'],
    ['password=Str0ng!Passw0rd!', 'Str0ng!Passw0rd!'],
  ])('which goes on to its own brackets and signs: %s', (text, value) => {
    expect(secretsIn(text)).toEqual([['secret.password', value]])
  })

  it('of a list of cookies and of parameters', () => {
    expect(redactedOf(`Set-Cookie: sid=${TOKEN}; Path=/; Secure`)).toBe(
      'Set-Cookie: sid=[REDACTED:cookie]; Path=/; Secure',
    )
    const digest = `Authorization: Digest username="kim", nonce="a", response="${HEX}", qop=auth`
    expect(redactedOf(digest)).toBe(digest.replace(HEX, '[REDACTED:authorization]'))
  })
})

describe('numbers in groups', () => {
  const BLANKS = [' ', '\u00a0', '\u2002', '\u2007', '\u2009', '\u200a', '\u202f', '\u3000']
  const HYPHENS = ['-', '\u00ad', '\u2010', '\u2011', '\u2012', '\u2013', '\u2212', '\uff0d']

  it.each([
    ['card', '4111 1111 1111 1111'],
    ['iban', 'DE89 3704 0044 0532 0130 00'],
    ['iban', 'de89 3704 0044 0532 0130 00'],
    ['iban', 'mt84 malt 0110 0001 2345 mtlc ast0 01s'],
    ['phone', '+49 30 901820'],
    ['phone', '(555) 010 4477'],
  ])('are read with every blank and hyphen between them: %s %s', (kind, number) => {
    for (const gap of [...BLANKS, ...HYPHENS]) {
      const written = number.replaceAll(' ', gap)
      const text = `Take ${written}, please`
      expect(findPersonalData(text).map(({ detector }) => detector)).toEqual([`pii.${kind}`])
      expect(findPersonalData(text).map(({ start, end }) => text.slice(start, end))).toEqual([
        written,
      ])
    }
  })

  it.each([
    ['both blanks and hyphens in a card', '4111 1111-1111 1111'],
    ['hyphens elsewhere in an IBAN', 'be685390-0754-7034'],
    ['small and capital letters in an IBAN', 'gb82WEST12345698765432'],
    ['letters behind an IBAN', 'DE89370400440532013000ab'],
  ])('are none with %s', (_, text) => {
    expect(findPersonalData(text)).toEqual([])
  })
})

describe('a megabyte made to be slow is read in linear time', () => {
  it.each(
    sampled([
      'authorization:',
      'authorization: a b="',
      'authorization:a%20b=c,',
      'authorization: Basic ',
      'basic aaaa',
      'cookie: a=',
      'cookie: csrf',
      'cookie "a=b;',
      'curl -u"a:',
      "curl -u a:'",
      '&sig=aaaaaaaaaaaaaaaa',
      'token=aaaaaaaaaaaaaaaa)',
      '(token=',
      'pwd=aaaaaaaa))))))))',
      'pwd=aaaaaaaa/',
      'pwd=a&amp;',
      'csrf_',
      'de89\u00a0',
      '4111\u2011',
      '+49\u202f',
    ]),
  )('%s', (piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length))
    const once = piece + piece.slice(-1).repeat(1_000_000)
    for (const hostile of [text, `${text}@`, once, `${once}@`]) {
      const before = process.cpuUsage()
      findSecrets(hostile)
      findPersonalData(hostile)
      expect(process.cpuUsage(before).user / 1_000).toBeLessThan(3_000)
    }
  })
})
