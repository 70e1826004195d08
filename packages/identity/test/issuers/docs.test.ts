import { readFileSync } from 'node:fs'
import { IssuerInput } from '@remit/contract'
import { expect, it } from 'vitest'
import { termsOf } from '../../src/issuers/presets.ts'

const page = readFileSync(new URL('../../../../docs/federation.md', import.meta.url), 'utf8')

it('docs/federation.md begins with an issuer that a server without an address of its own takes', () => {
  const [, body = ''] = /-d '(\{.*?\})'/s.exec(page) ?? []

  const terms = termsOf(IssuerInput.parse(JSON.parse(body)), null)

  expect(terms).toMatchObject({ preset: 'github', audiences: ['https://remit.example.com'] })
})
