import { describe, expect, it } from 'vitest'
import { findPersonalData, findSecrets } from './secrets.ts'

const secretsIn = (text: string) =>
  findSecrets(text).map(({ detector, start, end }) => [detector, text.slice(start, end)])
const personalDataIn = (text: string) =>
  findPersonalData(text).map(({ detector, start, end }) => [detector, text.slice(start, end)])

// Put together here, so that no scanner takes this file for a leak.
const AWS = ['AKIA', 'IOSFODNN7EXAMPLE'].join('')
const GITHUB = `ghp_${'a1B2'.repeat(9)}`
const REMIT = `rmk_${'0aZ'.repeat(21)}00`
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const JWT = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: 'kim' })}.${'x'.repeat(43)}`
const BODY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(4)
const PEM = `-----BEGIN PRIVATE KEY-----\n${BODY}\n-----END PRIVATE KEY-----`

describe('secrets', () => {
  it.each([
    ['secret.aws_access_key_id', AWS],
    ['secret.github_token', GITHUB],
    ['secret.github_token', `github_pat_${'A1_b'.repeat(15)}`],
    ['secret.remit_key', REMIT],
    ['secret.remit_key', REMIT.replace('rmk', 'rmc')],
    ['secret.remit_key', REMIT.replace('rmk', 'rmf')],
    ['secret.jwt', JWT],
    ['secret.private_key', PEM],
    ['secret.private_key', PEM.replaceAll('PRIVATE', 'RSA PRIVATE')],
    ['secret.gitlab_token', `glpat-${'a1B2'.repeat(5)}`],
    ['secret.anthropic_key', `sk-ant-api03-${'a1B2'.repeat(20)}`],
    ['secret.openai_key', `sk-proj-${'a1B2'.repeat(20)}`],
    ['secret.openai_key', `sk-${'a1B2'.repeat(5)}T3BlbkFJ${'a1B2'.repeat(5)}`],
    ['secret.openrouter_key', `sk-or-v1-${'a1b2'.repeat(16)}`],
    ['secret.google_api_key', `AIza${'a1B2x'.repeat(7)}`],
    ['secret.google_oauth_token', `ya29.${'a1B2'.repeat(10)}`],
    ['secret.google_oauth_token', `GOCSPX-${'a1B2'.repeat(7)}`],
    ['secret.huggingface_token', `hf_${'aBcD'.repeat(8)}eF`],
    ['secret.groq_key', `gsk_${'a1B2'.repeat(13)}`],
    ['secret.xai_key', `xai-${'a1B2'.repeat(20)}`],
    ['secret.replicate_token', `r8_${'a1B2'.repeat(9)}c`],
    ['secret.slack_token', `xoxb-${'1234567890-'.repeat(2)}${'a1B2'.repeat(6)}`],
    ['secret.stripe_key', ['sk', 'live', 'a1B2'.repeat(6)].join('_')],
    ['secret.stripe_key', `whsec_${'a1B2'.repeat(8)}`],
    ['secret.npm_token', `npm_${'a1B2'.repeat(9)}`],
    ['secret.pypi_token', `pypi-AgEIcHlwaS5vcmc${'a1B2'.repeat(15)}`],
    ['secret.sendgrid_key', `SG.${'a1B2'.repeat(5)}xy.${'a1B2'.repeat(10)}xyz`],
    ['secret.digitalocean_token', `dop_v1_${'a1b2'.repeat(16)}`],
    ['secret.shopify_token', `shpat_${'a1b2'.repeat(8)}`],
    ['secret.databricks_token', `dapi${'a1b2'.repeat(8)}`],
    ['secret.hashicorp_vault_token', `hvs.${'a1B2'.repeat(8)}`],
    ['secret.linear_key', `lin_api_${'a1B2'.repeat(10)}`],
    ['secret.notion_token', `ntn_${'a1B2'.repeat(11)}`],
    ['secret.telegram_token', `123456789:AA${'a1B2'.repeat(8)}c`],
    ['secret.docker_token', `dckr_pat_${'a1B2'.repeat(6)}xyz`],
  ])('are found whole, as %s', (detector, secret) => {
    expect(secretsIn(`key="${secret}", next`)).toEqual([[detector, secret]])
  })

  it.each([
    [
      'secret.aws_secret_access_key',
      `aws_secret_access_key = "${'a/B2'.repeat(10)}"`,
      'a/B2'.repeat(10),
    ],
    [
      'secret.azure_storage_key',
      `AccountKey=${'a1B2'.repeat(21)}xy==;`,
      `${'a1B2'.repeat(21)}xy==`,
    ],
    ['secret.password_in_url', 'postgres://kim:hunter2@db.example/shop', 'hunter2'],
  ])('are found by the name before them, as %s', (detector, text, secret) => {
    expect(secretsIn(text)).toEqual([[detector, secret]])
  })

  it('are found in every place where they stand', () => {
    expect(secretsIn(`${AWS} ${GITHUB}\n${AWS}`).map(([detector]) => detector)).toEqual([
      'secret.aws_access_key_id',
      'secret.aws_access_key_id',
      'secret.github_token',
    ])
  })

  it('include a private key inside a JSON string, and one that is cut off', () => {
    const escaped = PEM.replaceAll('\n', '\\n')
    const cut = PEM.slice(0, 90)

    expect(secretsIn(`{"key":"${escaped}"}`)).toEqual([['secret.private_key', escaped]])
    expect(secretsIn(`${cut} and so on`)).toEqual([['secret.private_key', cut]])
  })

  it.each([
    ['a bare header', 'The file starts with -----BEGIN PRIVATE KEY----- and ends later.'],
    ['a public key', PEM.replaceAll('PRIVATE', 'PUBLIC')],
    ['a longer word', `X${AWS}Y`],
    ['three dotted words', `${part({ title: 'a' })}.${part({ title: 'b' })}.${'x'.repeat(43)}`],
    ['a key of another length', REMIT.slice(0, -1)],
  ])('are not seen in %s', (_name, text) => {
    expect(secretsIn(text)).toEqual([])
  })
})

describe('personal data', () => {
  it.each([
    ['pii.email', 'kim.o-hara+news@mail.example.co.uk'],
    ['pii.email', 'müller@bücher.example'],
    ['pii.card', '4111 1111 1111 1111'],
    ['pii.card', '5555-5555-5555-4444'],
    ['pii.card', '378282246310005'],
    ['pii.iban', 'DE89 3704 0044 0532 0130 00'],
    ['pii.iban', 'GB82WEST12345698765432'],
    ['pii.iban', 'NO9386011117947'],
    ['pii.phone', '+49 30 1234567'],
    ['pii.phone', '+1 (555) 010-4477'],
  ])('is found whole, as %s: %s', (detector, value) => {
    expect(personalDataIn(`Take ${value}, please`)).toEqual([[detector, value]])
    expect(personalDataIn(`(${value})`)).toEqual([[detector, value]])
  })

  it('is found before what follows in the same line', () => {
    expect(personalDataIn('4111 1111 1111 1111 12/27')).toEqual([
      ['pii.card', '4111 1111 1111 1111'],
    ])
    expect(personalDataIn('DE89 3704 0044 0532 0130 00 IS MINE')).toEqual([
      ['pii.iban', 'DE89 3704 0044 0532 0130 00'],
    ])
    expect(personalDataIn('Write to kim@mail.example.')).toEqual([
      ['pii.email', 'kim@mail.example'],
    ])
  })

  it.each([
    ['a wrong Luhn digit', '4111 1111 1111 1112'],
    ['wrong check digits', 'DE88 3704 0044 0532 0130 00'],
    ['a wrong length for the country', 'DE89 3704 0044 0532 0130'],
    ['a country without accounts', 'XX89 3704 0044 0532 0130 00'],
    ['a time in milliseconds', '1700000000000'],
    ['a longer number', '94111111111111111'],
    ['a decimal number', '3.4111111111111111'],
    ['a picture', 'logo@2x.png'],
    ['a repository', 'git@code.example:team/app'],
    ['a handle', 'ask @kim or a@b'],
    ['dots in a row', 'kim..o@mail.example'],
  ])('is not seen in %s', (_name, text) => {
    expect(personalDataIn(text)).toEqual([])
  })

  it('is found in every place where it stands', () => {
    expect(personalDataIn('4111111111111111 4111111111111111').length).toBe(2)
    expect(personalDataIn('DE89 3704 0044 0532 0130 00 DE89 3704 0044 0532 0130 00').length).toBe(2)
    expect(personalDataIn('a@b.example, c@d.example').map(([, value]) => value)).toEqual([
      'a@b.example',
      'c@d.example',
    ])
  })
})
