import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { generateKey, hashKey, parseKey } from './key-text.ts'

describe('generateKey', () => {
  it('is 69 characters that begin with rmk_ and carry their public id', () => {
    const { id, secret } = generateKey()

    expect(secret).toMatch(/^rmk_[0-9A-Za-z]{65}$/)
    expect(id).toBe(`key_${secret.slice(4, 20)}`)
  })

  it('never gives the same id or secret again', () => {
    const keys = Array.from({ length: 500 }, generateKey)

    expect(new Set(keys.map(({ id }) => id)).size).toBe(500)
    expect(new Set(keys.map(({ secret }) => secret.slice(20, 63))).size).toBe(500)
  })

  it('draws every character about as often as any other', () => {
    const drawn = Array.from({ length: 400 }, () => generateKey().secret.slice(4, 63)).join('')
    const counts = Map.groupBy(drawn, (character) => character)

    // 23,600 draws of 62: a mean of 381 and a standard deviation of 19.
    expect(counts.size).toBe(62)
    for (const [character, all] of counts) {
      expect(all.length, character).toBeGreaterThan(381 - 6 * 19)
      expect(all.length, character).toBeLessThan(381 + 6 * 19)
    }
  })
})

describe('parseKey', () => {
  const { id, secret } = generateKey()

  it('gives id and hash of a well-formed key', () => {
    expect(parseKey(secret)).toEqual({ id, secret, hash: hash('sha256', secret, 'hex') })
    expect(hashKey(secret)).toBe(hash('sha256', secret, 'hex'))
  })

  it('finds one changed character anywhere', () => {
    for (let at = 0; at < secret.length; at++) {
      const other = secret[at] === 'x' ? 'y' : 'x'
      expect(parseKey(secret.slice(0, at) + other + secret.slice(at + 1)), `at ${at}`).toBeNull()
    }
  })

  it('finds two neighbors that changed places', () => {
    for (let at = 4; at < secret.length - 1; at++) {
      if (secret[at] === secret[at + 1]) continue
      const swapped = `${secret.slice(0, at)}${secret[at + 1]}${secret[at]}${secret.slice(at + 2)}`
      expect(parseKey(swapped), `at ${at}`).toBeNull()
    }
  })

  it.each([
    '',
    'rmk_',
    secret.slice(0, -1),
    `${secret}0`,
    ` ${secret}`,
    `${secret}\n`,
    secret.toUpperCase(),
    secret.replace('rmk', 'rmc'),
  ])('refuses %j', (text) => {
    expect(parseKey(text)).toBeNull()
  })
})
