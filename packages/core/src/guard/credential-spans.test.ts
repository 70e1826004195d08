import { describe, expect, it } from 'vitest'
import { credentialSpans } from './credential-spans.ts'
import { findSecrets } from './secrets.ts'

const spansIn = (text: string): string[] => {
  const [secret] = findSecrets(text)
  if (!secret) throw new Error('no secret')
  return credentialSpans(text, secret).map(({ span: [start, end] }) => text.slice(start, end))
}

describe('the spans of a secret', () => {
  it('are user and password, host and path, and query of a URL', () => {
    expect(spansIn('see postgres://app:b9xK7mQ2@db.example/shop?sslmode=require now')).toEqual([
      'postgres://app:b9xK7mQ2@',
      'db.example/shop',
      '?sslmode=require',
    ])
  })

  it('are the value, the name and the closing tag of an element', () => {
    expect(spansIn('<password>kJ8#mQ2vL5x</password>')).toEqual([
      'kJ8#mQ2vL5x',
      '<password>',
      '</password>',
    ])
    expect(spansIn('<password>kJ8#mQ2vL5x</other>')[2]).toBe('')
  })

  // Otherwise many URLs without a blank between them take quadratic time.
  it('do not reach into a host and path of more than 128 characters', () => {
    const place = (length: number) => spansIn(`https://a:b9xK7mQ2@${'x'.repeat(length)}`)[1]

    expect(place(128)).toHaveLength(128)
    expect(place(129)).toBe('')
  })
})
