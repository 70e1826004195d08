import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AddressError, normalAddress, normalPath, sentAddress } from './address.ts'

describe('an address in normal form', () => {
  it.each([
    // One file, in spellings that readers of URLs resolve.
    ['file:///srv/secret.txt', 'file:///srv/secret.txt'],
    ['File:///srv/secret.txt', 'file:///srv/secret.txt'],
    ['file:/srv/secret.txt', 'file:///srv/secret.txt'],
    ['file://localhost/srv/secret.txt', 'file:///srv/secret.txt'],
    ['file:///srv/%73ecret%2etxt', 'file:///srv/secret.txt'],
    ['file:///srv/./secret.txt', 'file:///srv/secret.txt'],
    ['file:///srv/pub/../secret.txt', 'file:///srv/secret.txt'],
    ['file:///srv/pub/%2e%2E/secret.txt', 'file:///srv/secret.txt'],
    ['file:///srv/secret.txt#part', 'file:///srv/secret.txt'],
    ['file:///srv/secret.txt/', 'file:///srv/secret.txt'],
    ['file:///srv/%C2%AD/../secret.txt', 'file:///srv/secret.txt'],
    [`file:///${'./'.repeat(200)}srv/secret.txt`, 'file:///srv/secret.txt'],
    ['file:///c|/data/x', 'file:///C:/data/x'],
    ['file:///c:/data/x', 'file:///C:/data/x'],
    // Letters of any script are themselves; what needs an escape has it, in upper case.
    ['file:///srv/Pr%c3%bcfung.txt', 'file:///srv/Prüfung.txt'],
    ['file:///srv/Prüfung.txt', 'file:///srv/Prüfung.txt'],
    ['file:///srv/a b%20c', 'file:///srv/a%20b%20c'],
    ['file:///srv/%c2%ad', 'file:///srv/%C2%AD'],
    ['file:///srv/100%25', 'file:///srv/100%25'],
    ['HTTP://User.Example:80', 'http://user.example/'],
    ['https://0x7f.1/a?q=%7e&u=https%3A%2F%2Fa', 'https://127.0.0.1/a?q=~&u=https://a'],
    ['https://a.example/x?', 'https://a.example/x'],
    // Readers take escapes of these for the characters, and clients escape them or not.
    [
      'file:///srv/%40scope/%5Bid%5D/a%281%29,%2B%26%3D%3b%3A%21%24%27.txt',
      "file:///srv/@scope/[id]/a(1),+&=;:!$'.txt",
    ],
    ['file:///c%3A/data/x', 'file:///C:/data/x'],
    ['file:///srv/a%7Cb', 'file:///srv/a%7Cb'],
    ['file:///srv/a|b', 'file:///srv/a%7Cb'],
    ['file:///c%7c/data', 'file:///c%7C/data'],
    ['note:a b{1}|"', 'note:a%20b%7B1%7D%7C%22'],
    ['note:a%20b%7B1%7D%7C%22', 'note:a%20b%7B1%7D%7C%22'],
    ['note://h%28/a%40b', 'note://h(/a@b'],
    [
      'https://a.example/?p=%2Fetc%5B%7B%27&q=a%26b%3Dc%2B',
      "https://a.example/?p=/etc[%7B'&q=a%26b%3Dc%2B",
    ],
    ['https://a.example/a%3Fb%23%2A', 'https://a.example/a%3Fb%23%2A'],
    // Without a host of the web, letters before the path are a name.
    ['memo://Insights', 'memo://Insights'],
    ['MEMO://Insights/%61', 'memo://Insights/a'],
    ['note:///a/../b', 'note:///b'],
    ['urn:isbn:0451450523', 'urn:isbn:0451450523'],
    ['postgres://app@db/t/schema', 'postgres://app@db/t/schema'],
  ])('%s is %s', (text, normal) => {
    expect(normalAddress(text)).toBe(normal)
  })

  it.each([
    ['file:///srv/secret.txt ', 'outer blanks'],
    [' file:///srv/secret.txt', 'outer blanks'],
    ['memo:. #', 'outer blanks'],
    ['file:///srv/secret.txt\n', 'invisible'],
    ['file:///srv/se\tcret.txt', 'invisible'],
    ['file:///srv/\u00ad/../secret.txt', 'invisible'],
    ['file:///srv/Pru\u0308fung.txt', 'NFC'],
    ['file:///srv/Pru%CC%88fung.txt', 'NFC'],
    ['file:///srv/*', '*'],
    ['file:///srv\\secret.txt', '\\'],
    ['file:///srv/pub/..%2fsecret.txt', 'slash'],
    ['file:///srv/pub/..%5Csecret.txt', 'backslash'],
    ['file:///srv/%2573ecret.txt', 'twice'],
    ['https://a.example/?file=%252e%252e', 'twice'],
    ['file:///srv/secret.txt%00.png', 'control'],
    ['file:///srv/secret.txt%0A', 'control'],
    ['file:///srv/secret.txt%20', 'blanks'],
    ['file:///srv/%C0%AE%C0%AE/x', 'UTF-8'],
    ['file:///srv/%zz', 'UTF-8'],
    ['file:///../secret.txt', 'root'],
    ['file:///srv/../../secret.txt', 'root'],
    ['note://pub/../secret', 'root'],
    ['note://../secret', 'root'],
    ['note://./secret', 'root'],
    ['note:a/../secret', 'root'],
    ['file:///srv//secret.txt', 'slashes'],
    ['file:////srv/secret.txt', 'slashes'],
    ['https://a.example/pub//x', 'slashes'],
    ['file://srv/secret.txt', 'host'],
    ['file:///srv/secret.txt?x', 'query'],
    ['file:srv/secret.txt', 'absolute'],
    ['file:///C:/data/secret.txt.', 'dot'],
    ['file:///C:/data/secret.txt::$DATA', 'colon'],
    ['file:///%43|/secret.txt', 'drive'],
    ['file:///pub/../%63|', 'drive'],
    ['https://docs.example@evil.example/', 'user name'],
    ['https://docs.example./', 'dot'],
    ['https:/docs.example/x', 'host'],
    ['https:///docs.example/x', 'host'],
    ['/srv/secret.txt', 'scheme'],
    ['', 'scheme'],
    [`memo://${'a'.repeat(256)}`, '256'],
  ])('is none of %j', (text, problem) => {
    expect(() => normalAddress(text)).toThrow(AddressError)
    expect(() => normalAddress(text)).toThrow(problem)
  })

  const pieces =
    `a Z . .. / %2e %61 %7E ü %C3%BC ? # : %3A @ %40 [ %5B | %7c { %7B " %22 ' %27 & %26 %3f`
      .split(' ')
      .concat(' ')
  const text = fc
    .tuple(
      fc.constantFrom('file:///', 'https://a.example/', 'x://', 'x:/', 'x:'),
      fc.array(fc.constantFrom(...pieces), { maxLength: 12 }),
    )
    .map(([start, rest]) => start + rest.join(''))
  const normalOf = (given: string): string | null => {
    try {
      return normalAddress(given)
    } catch (error) {
      if (error instanceof AddressError) return null
      throw error
    }
  }

  it('is its own normal form, also as a URL', () => {
    fc.assert(
      fc.property(text, (given) => {
        const normal = normalOf(given)
        fc.pre(normal !== null)

        expect(normalOf(normal)).toBe(normal)
        expect(normalOf(new URL(normal).href)).toBe(normal)
        expect(normalOf(sentAddress(given))).toBe(normal)
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['https://a.example/%40x%2Cy?u=%2F', 'https://a.example/%40x%2Cy?u=%2F'],
    ['note://x/a|b', 'note://x/a|b'],
    ['file:///srv/Prüfung (1).txt', 'file:///srv/Pr%C3%BCfung%20(1).txt'],
    ['file:///srv/Prüfung.txt', 'file:///srv/Prüfung.txt'],
    ['File:///srv/%70ub/../a%40b', 'file:///srv/a%40b'],
  ])('is for the rules: the server gets the escapes of %s', (given, sent) => {
    expect(sentAddress(given)).toBe(sent)
  })
})

describe('a path in normal form', () => {
  it.each([
    ['/srv/secret.txt', '/srv/secret.txt'],
    ['/srv/pub/../secret.txt', '/srv/secret.txt'],
    [`/${'./'.repeat(200)}srv/secret.txt`, '/srv/secret.txt'],
    ['/srv//pub/', '/srv/pub'],
    ['/', '/'],
    ['/srv/My File (1).txt', '/srv/My File (1).txt'],
    ['c:\\data\\..\\secret.txt', 'C:/secret.txt'],
    ['C:/data/x', 'C:/data/x'],
  ])('%s is %s', (given, normal) => {
    expect(normalPath(given)).toBe(normal)
  })

  it.each([
    ['a.txt', 'a.txt'],
    ['./a/./b/../c.txt', 'a/c.txt'],
    ['.', ''],
  ])('%s below a root is %s', (given, normal) => {
    expect(normalPath(given, true)).toBe(normal)
  })

  it.each([
    ['secret.txt', 'absolute'],
    ['', 'absolute'],
    ['~/secret.txt', 'absolute'],
    ['//host/share/secret.txt', 'absolute'],
    ['C:secret.txt', 'absolute'],
    ['file:///srv/secret.txt', 'absolute'],
    ['\\\\host\\share', 'invisible'],
    ['/srv/pub\\..\\secret.txt', 'invisible'],
    ['/srv/%73ecret.txt', 'escapes'],
    ['/../secret.txt', 'root'],
    ['/srv/../../secret.txt', 'root'],
    ['C:\\..\\secret.txt', 'root'],
    ['C:\\secret.txt.', 'dot'],
    ['C:\\secret.txt::$DATA', 'colon'],
    ['/srv/secret.txt ', 'outer blanks'],
    ['/srv/secret.txt\0.png', 'invisible'],
    ['/srv/Pru\u0308fung.txt', 'NFC'],
  ])('is none of %j', (given, problem) => {
    expect(() => normalPath(given)).toThrow(AddressError)
    expect(() => normalPath(given)).toThrow(problem)
  })

  it.each([
    ['/etc/passwd', 'relative'],
    ['../secret.txt', 'root'],
    ['a/../../secret.txt', 'root'],
    ['~/secret.txt', 'relative'],
    ['C:\\x', 'relative'],
    ['c:x', 'relative'],
  ])('below a root is none of %j', (given, problem) => {
    expect(() => normalPath(given, true)).toThrow(problem)
  })
})
