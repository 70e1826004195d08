import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { TLS_CERTIFICATE } from '@remit/testing/pure'
import { createOutbound } from '../../src/net/outbound.ts'
import { OutboundDeadlines, OutboundError, exchange } from '../../src/net/exchange.ts'
import { httpHost, httpsHost, tcpHost } from './hosts.ts'

const outbound = createOutbound({ allowLoopback: true, ca: TLS_CERTIFICATE })
const post = { method: 'POST', body: '{"a":1}' } as const

/** The code that a fetch is given up with. */
async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    if (error instanceof OutboundError) return error.code
    throw error
  }
  return 'answered'
}

/** The addresses of a name, in turn; the last one repeats. */
function names(...answers: readonly (readonly string[])[]) {
  let asked = 0
  const resolve = () => {
    const addresses = answers[Math.min(asked++, answers.length - 1)] ?? []
    return Promise.resolve(
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return {
    asked: () => asked,
    ...createOutbound({ allowLoopback: true, resolve, ca: TLS_CERTIFICATE }),
  }
}

describe('a request', () => {
  it('arrives as it was sent, and the answer comes back', async () => {
    const seen: unknown[] = []
    await using host = await httpsHost((request, response) => {
      const { method, url, headers } = request
      request.on('data', (chunk: Buffer) => seen.push(chunk.toString()))
      seen.push(method, url, headers)
      response.writeHead(201, { 'content-type': 'Application/JSON; charset=utf-8' }).end('{"b":2}')
    })

    const answer = await outbound.fetch(`${host.url}?q=1`, {
      ...post,
      headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' },
    })

    expect(seen).toEqual([
      'POST',
      '/hook?q=1',
      {
        host: `localhost:${host.port}`,
        'user-agent': 'Remit',
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        'content-length': '7',
        connection: 'close',
      },
      '{"a":1}',
    ])
    expect(answer).toMatchObject({ status: 201, contentType: 'application/json' })
    expect(Buffer.from(answer.body).toString()).toBe('{"b":2}')
  })

  it('has a connection of its own', async () => {
    await using host = await httpHost((_, response) => response.end())

    for (let i = 0; i < 3; i++) await outbound.fetch(host.url, { method: 'GET' })

    expect(host.connections()).toBe(3)
  })

  it.each([200, 204, 400, 404, 410, 500])('comes back with status %i', async (status) => {
    await using host = await httpHost((_, response) => response.writeHead(status).end())

    expect(await outbound.fetch(host.url, post)).toMatchObject({ status })
  })

  it('connects to the addresses that it is given, under the name of the URL', async () => {
    let seen = ''
    await using host = await httpsHost((request, response) => {
      seen = request.headers.host ?? ''
      response.end()
    })
    using ending = new OutboundDeadlines({ connectMs: 2000, totalMs: 5000 }, undefined)

    const { status } = await exchange({
      url: new URL(`https://hooks.example.com:${host.port}/`),
      addresses: [{ address: '127.0.0.1', family: 4 }],
      request: post,
      ending,
      ca: TLS_CERTIFICATE,
    })

    expect([status, seen]).toEqual([200, `hooks.example.com:${host.port}`])
  })
})

describe('no connection is made', () => {
  it.each([
    ['a private address', ['10.0.0.1']],
    ['loopback behind a public name', ['127.0.0.1']],
    ['the address of cloud metadata', ['169.254.169.254']],
    ['public and private addresses mixed', ['93.184.215.14', '127.0.0.1']],
    ['an IPv4 address inside IPv6', ['::ffff:127.0.0.1']],
    ['an IPv4-compatible address', ['::7f00:1']],
    ['the Azure host agent', ['168.63.129.16']],
  ])('when a name resolves to %s', async (_, addresses) => {
    await using host = await httpsHost((__, response) => response.end())
    const dns = names(addresses)

    const code = await codeOf(dns.fetch(`https://hooks.example.com:${host.port}/`, post))

    expect([code, host.connections(), dns.asked()]).toEqual(['address_refused', 0, 1])
  })

  it('on a private network, unless the operator chose the target; never to a cloud’s own address', async () => {
    const codeFor = (address: string, allowPrivate: boolean) => {
      const controller = new AbortController()
      const dns = createOutbound({
        allowLoopback: false,
        allowPrivate,
        resolve: () => {
          // Nothing listens there: the attempt to connect is what is told apart.
          setImmediate(() => controller.abort())
          return Promise.resolve([{ address, family: address.includes(':') ? 6 : 4 }])
        },
      })
      const { signal } = controller
      return codeOf(dns.fetch('https://login.corp.internal:8443/', { ...post, signal }))
    }
    const own = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', 'fd00::1']
    const local = ['127.0.0.1', '0.0.0.0', '::1', 'fe80::1']
    const clouds = ['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254']
    const never = [...local, ...clouds, 'fd20:ce::254']

    for (const code of await Promise.all(own.map((one) => codeFor(one, true))))
      expect(['aborted', 'connection_failed']).toContain(code)
    expect(await Promise.all(own.map((one) => codeFor(one, false)))).toEqual(
      own.map(() => 'target_refused'),
    )
    expect(await Promise.all(never.map((one) => codeFor(one, true)))).toEqual(
      never.map(() => 'address_refused'),
    )
  })

  it('to what a second look-up would say: there is one look-up', async () => {
    await using host = await httpsHost((_, response) => response.end())
    const dns = names(['93.184.215.14'], ['127.0.0.1'])

    const code = await codeOf(
      dns.fetch(`https://hooks.example.com:${host.port}/`, {
        ...post,
        signal: AbortSignal.timeout(500),
      }),
    )

    expect(['aborted', 'connection_failed', 'connection_timeout', 'tls_failed']).toContain(code)
    expect([host.connections(), dns.asked()]).toEqual([0, 1])
  })

  it('when localhost resolves to anything but loopback', async () => {
    expect(await codeOf(names(['127.0.0.1', '127.0.0.2']).fetch('http://localhost:1/', post))).toBe(
      'address_refused',
    )
  })

  it('when a name cannot be looked up or has no address', async () => {
    const failing = createOutbound({
      allowLoopback: false,
      resolve: () => Promise.reject(new Error('SERVFAIL')),
    })

    expect(await codeOf(failing.fetch('https://hooks.example.com/', post))).toBe('name_not_found')
    expect(await codeOf(names([]).fetch('https://hooks.example.com/', post))).toBe('name_not_found')
  })

  it('to a URL that is no target, and loopback is none unless it is opened', async () => {
    await using host = await httpHost((_, response) => response.end())
    const strict = createOutbound({ allowLoopback: false })

    expect(await codeOf(strict.fetch(host.url, post))).toBe('target_refused')
    expect(await codeOf(strict.fetch('https://10.0.0.1/', post))).toBe('target_refused')
    expect(host.connections()).toBe(0)
  })

  it('when the sender has given up before', async () => {
    await using host = await httpHost((_, response) => response.end())

    const code = await codeOf(outbound.fetch(host.url, { ...post, signal: AbortSignal.abort() }))

    expect([code, host.connections()]).toEqual(['aborted', 0])
  })
})

it('ends when another address was reached than the one that was checked', async () => {
  await using host = await httpHost((_, response) => response.end())
  using ending = new OutboundDeadlines({ connectMs: 2000, totalMs: 5000 }, undefined)
  const work = exchange({
    url: new URL(`http://127.0.0.1:${host.port}/`),
    addresses: [{ address: '93.184.215.14', family: 4 }],
    request: post,
    ending,
    ca: undefined,
  })

  expect(await codeOf(work)).toBe('address_refused')
})

describe('an answer is refused', () => {
  it.each([300, 301, 302, 303, 304, 307, 308])('that points elsewhere: %i', async (status) => {
    await using other = await httpHost((_, response) => response.end())
    await using host = await httpHost((_, response) => {
      response.writeHead(status, { location: other.url }).end()
    })

    expect(await codeOf(outbound.fetch(host.url, post))).toBe('redirected')
    expect(other.connections()).toBe(0)
  })

  it('that is compressed, before it is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024))
    for (const encoding of ['gzip', 'br', 'GZIP', 'identity, gzip']) {
      await using host = await httpHost((_, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end(bomb)
      })

      expect(await codeOf(outbound.fetch(host.url, post))).toBe('content_encoded')
    }
  })

  it('that is larger than 256 KiB, as soon as it is', async () => {
    let sent = 0
    await using host = await httpHost((_, response) => {
      const more = () => {
        for (; sent < 1e9; sent += 65_536) if (!response.write(Buffer.alloc(65_536))) break
      }
      response.on('drain', more)
      more()
    })

    expect(await codeOf(outbound.fetch(host.url, post))).toBe('response_too_large')
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  it('but 256 KiB are taken', async () => {
    await using host = await httpHost((_, response) => response.end(Buffer.alloc(256 * 1024)))

    expect((await outbound.fetch(host.url, post)).body.length).toBe(256 * 1024)
  })

  it.each([
    ['a header of more than 16 KiB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(17_000)}\r\n\r\n`],
    ['something that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a body that breaks off', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['nothing', ''],
    [
      'another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
  ])('that is %s', async (_, bytes) => {
    await using host = await tcpHost((socket) => {
      socket.once('data', () => socket.end(bytes))
    })

    expect(await codeOf(outbound.fetch(host.url, post))).toBe('response_broken')
  })
})

describe('time', () => {
  it('5 seconds are all there is, however steadily an answer drips', async () => {
    await using host = await tcpHost((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n')
      const drip = setInterval(() => socket.write('x'), 50)
      socket.on('close', () => clearInterval(drip))
    })
    const started = performance.now()

    expect(await codeOf(outbound.fetch(host.url, post))).toBe('timeout')
    expect(performance.now() - started).toBeGreaterThan(4_900)
  })

  it('2 seconds are there to connect: a name server or a TLS host that is silent', async () => {
    await using host = await tcpHost(() => undefined)
    const silent = createOutbound({
      allowLoopback: true,
      resolve: () => new Promise(() => undefined),
    })

    const codes = await Promise.all([
      codeOf(silent.fetch('https://hooks.example.com/', post)),
      codeOf(outbound.fetch(host.url.replace('http:', 'https:'), post)),
    ])

    expect(codes).toEqual(['connection_timeout', 'connection_timeout'])
  })

  it('the sender may give up while the answer is on its way', async () => {
    const controller = new AbortController()
    await using host = await httpHost((_, response) => {
      response.write('x')
      setTimeout(() => controller.abort(), 50)
    })

    const request = { ...post, signal: controller.signal }
    expect(await codeOf(outbound.fetch(host.url, request))).toBe('aborted')
  })
})

describe('TLS', () => {
  it('a certificate that nobody vouches for, whatever the environment says', async () => {
    await using host = await httpsHost((_, response) => response.end())
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    try {
      const plain = createOutbound({ allowLoopback: true })
      expect(await codeOf(plain.fetch(host.url, post))).toBe('tls_failed')
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    }
  })

  it('a certificate for another name', async () => {
    await using host = await httpsHost((_, response) => response.end())

    expect(await codeOf(outbound.fetch(`https://127.0.0.1:${host.port}/`, post))).toBe('tls_failed')
  })

  it('a host that has nothing newer than TLS 1.1', async () => {
    await using host = await httpsHost((_, response) => response.end(), {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })

    expect(await codeOf(outbound.fetch(host.url, post))).toBe('tls_failed')
  })

  it('a port that nobody listens on', async () => {
    const host = await httpHost((_, response) => response.end())
    await host[Symbol.asyncDispose]()

    expect(await codeOf(outbound.fetch(host.url, post))).toBe('connection_failed')
  })
})

it('no error carries what the other side sent', async () => {
  await using host = await httpHost((_, response) => {
    response
      .writeHead(302, 'spy reason', { location: 'https://spy.example.com/', x: 'spy' })
      .end('spy')
  })

  const error: unknown = await outbound.fetch(host.url, post).catch((thrown: unknown) => thrown)

  expect(error).toBeInstanceOf(OutboundError)
  expect(`${String(error)}${(error as Error).stack}${JSON.stringify(error)}`).not.toContain('spy')
})
