import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cli, cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

let installation: Installation
const file = (name: string) => join(installation.folder, name)
const ISSUE = ['license', 'issue', '--customer', 'Acme Ltd', '--plan', 'team', '--expires']

beforeAll(async () => {
  installation = await createInstallation('sqlite', { hasTables: false })
  const { stdout } = await cli(['license', 'keygen', file('vendor.pem')], {})
  writeFileSync(file('vendor.pub'), stdout)
})
afterAll(() => installation.remove())

test('a license that was issued is shown as what it is, from the environment and from a file', async () => {
  const { stdout: token } = await cli(
    [...ISSUE, '2999-12-31', '--key', file('vendor.pem'), '--hosted'],
    {},
  )
  writeFileSync(file('license'), token)
  const show = ['license', 'show', '--public-key', file('vendor.pub')]
  const license = {
    customer: 'Acme Ltd',
    plan: 'team',
    hosted: true,
    expires_at: '2999-12-31T23:59:59.000Z',
    grace_ends_at: '3000-01-30T23:59:59.000Z',
  }

  expect(await cliJson([...show, '--file', file('license')], {})).toEqual({ license })
  expect(await cliJson(show, { REMIT_LICENSE_KEY: token.trim() })).toEqual({ license })
})

test('keygen keeps the private key to its owner, prints the public one, and replaces nothing', async () => {
  expect(statSync(file('vendor.pem')).mode & 0o777).toBe(0o600)
  expect(readFileSync(file('vendor.pem'), 'utf8')).toContain('PRIVATE KEY')
  expect(readFileSync(file('vendor.pub'), 'utf8')).toMatch(/^-----BEGIN PUBLIC KEY-----\n/)
  expect(await cli(['license', 'keygen', file('vendor.pem')], {})).toMatchObject({
    code: 2,
    stdout: '',
  })
})

test('an expired or foreign license, and none, are told apart from a good one: exit code 1', async () => {
  const { stdout: expired } = await cli(
    [...ISSUE, '2020-01-01T00:00:00Z', '--key', file('vendor.pem')],
    {},
  )
  const show = (token?: string) =>
    cli(['license', 'show', '--public-key', file('vendor.pub')], { REMIT_LICENSE_KEY: token })

  expect(await show(expired.trim())).toEqual({
    code: 1,
    stdout: '',
    stderr: 'remit: the license expired at 2020-01-01T00:00:00.000Z, more than 30 days ago\n',
  })
  expect(await cli(['license', 'show'], { REMIT_LICENSE_KEY: expired.trim() })).toMatchObject({
    code: 1,
    stderr: 'remit: the license is not signed by the vendor\n',
  })
  expect(await show()).toMatchObject({ code: 1, stdout: '' })
})

test.each([
  ['a time that is none', ['--expires', 'tomorrow']],
  ['a day that is none', ['--expires', '2027-02-31x']],
  ['a plan that cannot be sold', ['--expires', '2027-01-01', '--plan', 'free']],
  ['a key that is not there', ['--expires', '2027-01-01', '--key', '/nowhere/key.pem']],
  ['a public key in place of the private one', ['--expires', '2027-01-01', '--key', '@vendor.pub']],
])('issue refuses %s', async (_what, options) => {
  const paths = options.map((text) => (text.startsWith('@') ? file(text.slice(1)) : text))
  const refused = await cli(
    [
      'license',
      'issue',
      '--customer',
      'x',
      '--plan',
      'team',
      '--key',
      file('vendor.pem'),
      ...paths,
    ],
    {},
  )

  expect(refused).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^remit: .+\n$/),
  })
})
