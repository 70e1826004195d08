import { createHash } from 'node:crypto'
import { GuardRequest } from '@remit/contract'
import { sampled } from '@remit/testing/pure'
import { describe, expect, it } from 'vitest'
import { checkContent } from './guard.ts'
import { findSecrets } from './secrets.ts'

const COUNT = 150
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const ALNUM = `${LOWER}${LOWER.toUpperCase()}0123456789`
const ALPHABETS = {
  'small letters': LOWER,
  digits: '0123456789',
  'letters and digits': ALNUM,
  'small letters, digits and signs': `${LOWER}0123456789!@#$%^&*(-_=+)`,
  'letters, digits and signs': `${ALNUM}!@#%^*-_=+?`,
} as const

/** Values that look random and are the same in every run. */
function randomValues(seed: string, alphabet: string, length: number): string[] {
  const bytes = createHash('shake256', { outputLength: COUNT * length * 2 })
    .update(seed)
    .digest()
  const letter = (i: number) => alphabet[bytes.readUInt16LE(i * 2) % alphabet.length]
  const all = Array.from({ length: COUNT * length }, (_, i) => letter(i)).join('')
  return Array.from({ length: COUNT }, (_, n) => all.slice(n * length, (n + 1) * length))
}

const isInjection = (content: string): boolean =>
  (['user', 'document', 'tool'] as const).some((source) =>
    checkContent(GuardRequest.parse({ content, source })).reasons.some((reason) =>
      reason.startsWith('injection:'),
    ),
  )
const finds = (text: string, secret: string): boolean =>
  findSecrets(text).some(({ start, end }) => text.slice(start, end) === secret)

// The last column is how many of 150 may be missed: random letters are a word now and then.
describe('of many random values', () => {
  it.each(
    sampled<[string, number, keyof typeof ALPHABETS, number]>([
      ['Authorization: Bearer …', 40, 'letters and digits', 0],
      ['api_key=…', 40, 'letters and digits', 0],
      ['secret_key: …', 40, 'letters and digits', 0],
      ["SECRET_KEY = '…'", 40, 'letters and digits', 0],
      ["SECRET_KEY = '…'", 50, 'small letters, digits and signs', 0],
      ['token: …', 40, 'letters and digits', 0],
      ['password=…', 12, 'letters and digits', 1],
      ['password="…"', 10, 'letters, digits and signs', 1],
      ['password=…', 12, 'small letters', 15],
      ['password=…', 20, 'small letters', 7],
      ['password=…', 10, 'digits', 0],
      ['Passwort: …', 16, 'letters and digits', 1],
      ['{"user":"kim","password":"…"}', 12, 'letters and digits', 1],
      ['<password>…</password>', 12, 'letters, digits and signs', 1],
      ['root password: …', 16, 'letters, digits and signs', 0],
      ['mongodb://admin:…@mongo/admin', 10, 'letters and digits', 0],
      ['mongodb://admin:…@mongo:27017/admin', 10, 'letters and digits', 0],
      ['MONGO_URL=mongodb://admin:…@mongo:27017/admin', 10, 'letters and digits', 0],
      ['mysql://app:…@db/system', 12, 'letters and digits', 0],
      ['mysql://root:…@localhost/system', 12, 'letters and digits', 0],
      ['https://bob:…@system.example/', 12, 'letters and digits', 0],
      ['The store is at smb://administrator:…@server/admin', 40, 'letters and digits', 0],
      ['mongodb://admin:…@db/app?authSource=admin&retryWrites=true', 12, 'letters and digits', 0],
      ['https://admin:…@db.internal/db?application_name=assistant', 12, 'letters and digits', 0],
    ]),
  )('in %s, of %i %s, none is an injection', (form, length, alphabet, missed) => {
    const values = randomValues(`${form} ${alphabet}`, ALPHABETS[alphabet], length)
    const textOf = (value: string) => form.replace('…', () => value)

    expect(values.filter((value) => isInjection(textOf(value)))).toEqual([])
    expect(values.filter((value) => !finds(textOf(value), value)).length).toBeLessThanOrEqual(
      missed,
    )
  })
})

describe('a short text without a secret is no injection', () => {
  it.each([
    'https://system.example/',
    'mongodb://mongo/admin',
    'MONGO_URL=mongodb://mongo/admin',
    'password=changeme',
    'SECRET_KEY=changeme',
  ])('%s', (text) => {
    expect(isInjection(text)).toBe(false)
  })
})
