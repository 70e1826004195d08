import { createSecretKey, hash, randomBytes } from 'node:crypto'
import { generateText } from '@remit/core/keys'
import { describe, expect, it } from 'vitest'
import { Hasher } from './hasher.ts'

const pepper = () => createSecretKey(randomBytes(32))
const text = generateText('rmc_')

describe('Hasher', () => {
  it('keeps SHA-256 of the whole text', () => {
    expect(new Hasher().hash(text)).toEqual({ hash: hash('sha256', text), hash_scheme: 's1' })
  })

  it('knows the text again and no other', () => {
    for (const hasher of [new Hasher(), new Hasher([pepper()])]) {
      const row = hasher.hash(text)
      expect(hasher.matches(text, row)).toBe(true)
      expect(hasher.matches(generateText('rmc_'), row)).toBe(false)
      expect(hasher.matches(text, undefined)).toBe(false)
    }
  })

  it('with a pepper accepts no hash made without it', () => {
    const own = pepper()
    const planted = [new Hasher(), new Hasher([pepper()])].map((other) => other.hash(text))

    for (const row of planted) {
      expect(new Hasher([own]).matches(text, row)).toBe(false)
      const renamed = { ...row, hash_scheme: new Hasher([own]).hash(text).hash_scheme }
      expect(new Hasher([own]).matches(text, renamed)).toBe(false)
    }
  })

  it('changes peppers: the new one makes hashes, the old one still checks its own', () => {
    const [before, now] = [pepper(), pepper()]
    const row = new Hasher([before]).hash(text)
    const both = new Hasher([now, before])

    expect(both.matches(text, row)).toBe(true)
    expect(both.hash(text)).toEqual(new Hasher([now]).hash(text))
    expect(new Hasher([now]).matches(text, row)).toBe(false)
  })

  it('shows nothing of a pepper in the name that it has in rows', () => {
    const key = pepper()
    const { hash_scheme: scheme } = new Hasher([key]).hash(text)

    expect(scheme).toMatch(/^h1:[0-9a-f]{16}$/)
    expect(scheme).not.toContain(hash('sha256', key.export(), 'hex').slice(0, 16))
  })

  it.each([
    ['', 's1'],
    ['ab', 's1'],
    ['x'.repeat(64), 'h9:none'],
    ['x'.repeat(64), ''],
  ])('a row with the hash %j by %j fits nothing', (kept, scheme) => {
    expect(new Hasher().matches(text, { hash: kept, hash_scheme: scheme })).toBe(false)
  })
})
