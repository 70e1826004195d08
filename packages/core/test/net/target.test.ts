import { describe, expect, it } from 'vitest'
import { isPublicAddress, checkTarget } from '../../src/net/outbound.ts'

const strict = { allowLoopback: false, allowQuery: true }
const loopback = { allowLoopback: true, allowQuery: true }

const refusedBy = (text: string, rules = strict): string | null => {
  const check = checkTarget(text, rules)
  return 'refused' in check ? check.refused : null
}

/** The rule that each URL breaks. Most hosts are disguised internal addresses. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  'must be an absolute https URL': [
    '',
    'hooks.example.com/x',
    '/x',
    '//hooks.example.com',
    'https://',
    'https://a b.com/',
    'https://[::1',
    'https://256.256.256.256/',
    'https://1.2.3.4.5/',
    'https://example.com:99999/',
  ],
  'must be an https URL': [
    'http://hooks.example.com/',
    'http://127.0.0.1/',
    'file:///etc/passwd',
    'gopher://hooks.example.com/',
    'ftp://hooks.example.com/',
    'data:text/plain,x',
    'javascript:alert(1)',
    'ws://hooks.example.com/',
    'blob:https://hooks.example.com/1',
  ],
  'must not contain a user name or password': [
    'https://a@hooks.example.com/',
    'https://a:b@hooks.example.com/',
    'https://:b@hooks.example.com/',
    'https://hooks.example.com@127.0.0.1/',
    'https://hooks.example.com%40@10.0.0.1/',
  ],
  'must not have a fragment': [
    'https://hooks.example.com/#x',
    'https://hooks.example.com/#',
    'https://127.0.0.1#.example.com/',
  ],
  'must have a host name, not an IP address': [
    'https://127.0.0.1/',
    'https://93.184.215.14/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://127.0.0.1./',
    'https://0/',
    'https://①②⑦.⓪.⓪.①/',
    'https://１２７.０.０.１/',
    'https://127。0。0。1/',
    'https://%31%32%37.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::7f00:1]/',
    'https://[fe80::1]/',
    'https://[2606:4700::1111]/',
    'https://168.63.129.16/',
    'https:\\\\10.0.0.1\\',
    'https://1\t27.0.0.1/',
  ],
  'must have a host name without a trailing dot': [
    'https://hooks.example.com./',
    'https://localhost./',
    'https://metadata.google.internal./',
  ],
  'must have a host of the public internet': [
    'https://localhost/',
    'https://LOCALHOST/',
    'https://intranet/',
    'https://metadata/',
    'https://a.localhost/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://METADATA.GOOGLE.INTERNAL/',
    'https://nas.lan/',
    'https://router.home/',
    'https://wiki.corp/',
    'https://host.home.arpa/',
    'https://1.0.0.127.in-addr.arpa/',
    'https://abcdefghij.onion/',
    'https://hooks.test/',
    'https://ｌｏｃａｌｈｏｓｔ/',
    'https://a.ｌｏｃａｌ/',
  ],
  'must use port 443': [
    'https://hooks.example.com:8443/',
    'https://hooks.example.com:22/',
    'https://hooks.example.com:80/',
    'https://hooks.example.com:0/',
  ],
}

describe('checkTarget', () => {
  for (const [reason, urls] of Object.entries(HOSTILE)) {
    it.each(urls)(`${reason}: %j`, (url) => {
      expect(refusedBy(url)).toBe(reason)
    })
  }

  it.each([
    ['https://hooks.example.com/', 'https://hooks.example.com/'],
    ['https://hooks.example.com:443/a?b=c', 'https://hooks.example.com/a?b=c'],
    ['HTTPS://Hooks.Example.COM', 'https://hooks.example.com/'],
    ['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
    ['https://127.0.0.1.example.com/', 'https://127.0.0.1.example.com/'],
    ['https://local.example.com/', 'https://local.example.com/'],
  ])('takes %j', (text, href) => {
    expect(checkTarget(text, strict)).toMatchObject({ url: { href } })
  })

  it('takes a query only where it is allowed', () => {
    const rules = { ...strict, allowQuery: false }

    expect(refusedBy('https://issuer.example.com/?a=b', rules)).toBe('must not have a query')
    expect(refusedBy('https://issuer.example.com/?', rules)).toBe('must not have a query')
    expect(refusedBy('https://issuer.example.com/a', rules)).toBeNull()
  })

  it('opens loopback and other ports for development, and nothing else', () => {
    const open = [
      'http://127.0.0.1:9000/',
      'http://localhost:9000/',
      'http://[::1]:9000/',
      'https://localhost/',
      'https://2130706433/',
      'https://hooks.example.com:8443/',
    ]
    const shut = [
      'http://127.0.0.2/',
      'http://0.0.0.0/',
      'http://[::]/',
      'http://[::ffff:127.0.0.1]/',
      'http://10.0.0.1/',
      'http://localhost./',
      'http://a.localhost/',
      'http://hooks.example.com/',
      'https://169.254.169.254/',
      'https://127.0.0.2/',
      'http://a@localhost/',
      'http://localhost/#',
    ]

    expect(open.filter((url) => refusedBy(url, loopback) !== null)).toEqual([])
    expect(shut.filter((url) => refusedBy(url, loopback) === null)).toEqual([])
    expect(open.slice(0, 5).filter((url) => refusedBy(url) === null)).toEqual([])
  })
})

/** One address of every range that is not the public internet's. */
const INSIDE = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:0:7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '4000::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
]

describe('isPublicAddress', () => {
  it.each(INSIDE)('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  it.each([
    '2130706433',
    '0x7f.1',
    '127.1',
    '8.8.8.8.',
    '',
    'localhost',
    '8.8.8.8/32',
    '[2606:4700::1]',
  ])('%j is no address at all', (text) => {
    expect(isPublicAddress(text)).toBe(false)
  })

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.215.14',
    '172.32.0.1',
    '168.63.129.17',
    '2606:4700::1111',
    '2a00:1450:4001::1',
  ])('%s is', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })
})
