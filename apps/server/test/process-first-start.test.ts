import { generateKey } from '@remit/core'
import { DIALECTS } from '@remit/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { remit, request, startServer } from './support/process.ts'

const FOUR = Array.from({ length: 4 })

describe.each(DIALECTS)('first starts at once on %s', (dialect) => {
  let installation: Installation
  beforeEach(async () => {
    installation = await createInstallation(dialect)
  })
  afterEach(() => installation.remove())

  it('make the tables once', async () => {
    const ends = await Promise.all(FOUR.map(() => remit(['migrate', '--json'], installation.env)))

    expect(ends.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      ends.map(() => ({ code: 0, stderr: '' })),
    )
    const again = await remit(['migrate', '--json'], installation.env)
    expect(JSON.parse(again.stdout)).toMatchObject({ migrated: [] })
  })

  it('make the organization once, and all of them serve it', async () => {
    const { secret } = generateKey()
    const env = { ...installation.env, REMIT_BOOTSTRAP_ORG: 'demo', REMIT_BOOTSTRAP_KEY: secret }

    const started = await Promise.all(FOUR.map(() => startServer(env)))

    const answers = await Promise.all(
      started.map(({ url }) => request(`${url}/v1/ledger/checkpoint`, secret)),
    )
    const { organizations } = await cliJson<{ organizations: { name: string }[] }>(
      ['org', 'list'],
      env,
    )
    const ends = await Promise.all(started.map(({ server }) => server.stop()))
    expect(answers.map(({ status }) => status)).toEqual(FOUR.map(() => 200))
    expect(organizations.map(({ name }) => name)).toEqual(['demo'])
    expect(ends.map(({ code }) => code)).toEqual(FOUR.map(() => 0))
  })
})
