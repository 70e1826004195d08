import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiOf } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { boot } from '../../src/boot/boot.ts'
import type { Booted } from '../../src/boot/boot.ts'
import { readConfig } from '../../src/settings/config.ts'
import { ConfigError } from '../../src/settings/environment.ts'
import { hasModules } from '../../src/boot/modules.ts'
import { createInstallation } from '../support/installation.ts'
import type { Installation } from '../support/installation.ts'
import { OWNERS } from './support.ts'

const pepper = () => randomBytes(32).toString('base64')

describe('REMIT_CREDENTIAL_PEPPER_FILE', () => {
  let installation: Installation
  let file: string
  beforeEach(async () => {
    installation = await createInstallation()
    file = join(installation.folder, 'pepper')
  })
  afterEach(() => installation.remove())

  const config = (more: Record<string, string> = { REMIT_CREDENTIAL_PEPPER_FILE: file }) =>
    readConfig({ ...installation.env, REMIT_LOG_LEVEL: 'silent', ...more })

  test.each([
    ['no file', null, 'read: no such file or directory'],
    ['an empty file', '\n', 'used: it contains no pepper'],
    ['text', 'correct horse battery staple!!!!', 'used: line 1 is not base64'],
    ['a short one', randomBytes(31).toString('base64'), 'used: line 1 has fewer than 32 bytes'],
    [
      'a second line that is cut',
      `${pepper()}\n${pepper().slice(0, -3)}`,
      'used: line 2 is not base64',
    ],
  ])('stops the boot for %s, and shows nothing of it', async (_, text, why) => {
    if (text !== null) writeFileSync(file, text)
    const error = (await boot(config()).catch((thrown: unknown) => thrown)) as ConfigError

    expect(error).toBeInstanceOf(ConfigError)
    expect(error.message).toBe(`REMIT_CREDENTIAL_PEPPER_FILE: ${file} cannot be ${why}`)
  })

  describe.skipIf(!hasModules())('with the identity module', () => {
    let running: Booted | null = null
    afterEach(async () => {
      await running?.remit.close()
      running = null
    })

    const create = async (newOrganization: Booted['newOrganization']) => {
      const { organization, key } = await newOrganization('acme')
      return { id: organization.id, key: key.secret }
    }

    /** A start with the peppers of the file, or none, for the same organization. */
    async function start(peppers: readonly string[], org?: Api['org']): Promise<Api> {
      await running?.remit.close()
      if (peppers.length > 0) writeFileSync(file, `${peppers.join('\n')}\n`)
      running = await boot(config(peppers.length > 0 ? undefined : {}))
      const { remit, newOrganization } = running
      const made = org ?? (await create(newOrganization))
      const call: Api['remit']['call'] = async (method, path, { key, body, headers } = {}) =>
        remit.app.request(path, {
          method,
          headers: {
            authorization: `Bearer ${key}`,
            ...(body !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
      return apiOf({ ...remit, call } as Api['remit'], made)
    }
    const issue = async (api: Api) => {
      const call = { params: { agentID: 'payer' }, body: { scopes: ['authorize'] } }
      return (await api.ok('issueCredential', call)).secret ?? ''
    }
    const statusWith = async (api: Api, key: string) =>
      (await api.call('authorize', { key, body: { agent_id: 'payer', action: 'a.b' } })).status

    test('credentials work with the pepper they were made with, and with no other', async () => {
      const [first, second] = [pepper(), pepper()]
      const api = await start([first])
      await api.ok('registerAgent', { body: { agent_id: 'payer', owners: OWNERS } })
      const made = await issue(api)
      expect(await statusWith(api, made)).toBe(200)

      expect(await statusWith(await start([second, first], api.org), made)).toBe(200)
      expect(await statusWith(await start([second], api.org), made)).toBe(401)
      expect(await statusWith(await start([], api.org), made)).toBe(401)
    })

    test('credentials of before there was one end when it comes', async () => {
      const api = await start([])
      await api.ok('registerAgent', { body: { agent_id: 'payer', owners: OWNERS } })
      const made = await issue(api)
      expect(await statusWith(api, made)).toBe(200)

      const peppered = await start([pepper()], api.org)

      expect(await statusWith(peppered, made)).toBe(401)
      expect(await statusWith(peppered, await issue(peppered))).toBe(200)
    })
  })
})
