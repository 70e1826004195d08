import { describe, expect, it } from 'vitest'
import { metadataUrl } from './server-url.ts'

const ASKED = 'http://10.0.0.7:8080/.well-known/authzen-configuration'

describe('the base URL in metadata', () => {
  it.each([
    ['https://pdp.example.com', 'https://pdp.example.com'],
    ['https://pdp.example.com/', 'https://pdp.example.com'],
    ['https://pdp.example.com:8443/', 'https://pdp.example.com:8443'],
    ['https://example.com/remit/', 'https://example.com/remit'],
    ['https://example.com/remit?a=b#c', 'https://example.com/remit'],
    ['http://localhost:8080', 'http://localhost:8080'],
  ])('is %s as configured, whatever was asked', (baseUrl, expected) => {
    expect(metadataUrl(baseUrl, ASKED)).toBe(expected)
  })

  it.each(['http://pdp.example.com', 'http://10.0.0.7:8080', 'http://localhost.example.com'])(
    'is none where %s is configured',
    (baseUrl) => {
      expect(metadataUrl(baseUrl, ASKED)).toBeNull()
    },
  )

  it.each([
    ['http://localhost:8080/a', 'http://localhost:8080'],
    ['http://127.0.0.1:8080/a', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080/a', 'http://[::1]:8080'],
    ['http://remit.localhost/a', 'http://remit.localhost'],
  ])('is the origin of %s where none is configured', (asked, expected) => {
    expect(metadataUrl(undefined, asked)).toBe(expected)
  })

  it.each([
    'https://pdp.example.com/.well-known/authzen-configuration',
    'http://evil.example/.well-known/authzen-configuration',
    'http://10.0.0.7:8080/a',
    'http://localhost.evil.example/a',
    'http://127.0.0.1.evil.example/a',
  ])('is none where none is configured and %s was asked', (asked) => {
    expect(metadataUrl(undefined, asked)).toBeNull()
  })
})
