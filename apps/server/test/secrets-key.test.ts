import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateLedgerKey } from '@remit/core/ledger/proofs'
import { generateSecretsKey } from '@remit/core/secrets'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { boot } from '../src/boot/boot.ts'
import { readConfig } from '../src/settings/config.ts'
import { ConfigError } from '../src/settings/environment.ts'
import { issueLicense } from '../src/settings/license.ts'
import { hasModules } from '../src/boot/modules.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

const line = () => generateSecretsKey().trim()

describe('REMIT_SECRETS_KEY_FILE', () => {
  let installation: Installation
  let file: string
  beforeEach(async () => {
    installation = await createInstallation()
    file = join(installation.folder, 'secrets-key.txt')
  })
  afterEach(() => installation.remove())

  const config = (more: Record<string, string> = {}) =>
    readConfig({ ...installation.env, REMIT_LOG_LEVEL: 'silent', ...more })
  const refusal = async (booting: Promise<unknown>) => {
    const error = await booting.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).message
  }

  describe.skipIf(!hasModules())('with modules', () => {
    test('is made beside the ledger’s key in evaluation, for its owner alone, and stays', async () => {
      const first = await boot(config())
      await first.remit.close()
      const text = readFileSync(file, 'utf8')

      expect(Buffer.from(text, 'base64')).toHaveLength(32)
      expect(statSync(file).mode & 0o777).toBe(0o600)
      await (await boot(config())).remit.close()
      expect(readFileSync(file, 'utf8')).toBe(text)
    })

    test('is not made by a licensed start, which names the command instead', async () => {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519')
      writeFileSync(join(installation.folder, 'ledger-key.pem'), generateLedgerKey())
      const license = await issueLicense(privateKey, {
        customer: 'Acme',
        plan: 'enterprise',
        hosted: false,
        expiresAt: '2099-01-01T00:00:00.000Z',
      })
      const licensed = config({ REMIT_LICENSE_KEY: license, REMIT_EVALUATION: '0' })

      expect(await refusal(boot(licensed, { licenseKey: publicKey }))).toBe(
        `REMIT_SECRETS_KEY_FILE: ${file} does not exist; create it with \`remit secrets keygen ${file}\``,
      )
      expect(existsSync(file)).toBe(false)
    })

    test.each([
      ['an empty file', '\n', 'it contains no key'],
      ['text', 'correct horse battery staple!!!!', 'line 1 is not base64'],
      ['a short key', randomBytes(31).toString('base64'), 'line 1 has fewer than 32 bytes'],
      [
        'a long one',
        `${line()}\n${randomBytes(33).toString('base64')}`,
        'line 2 has more than 32 bytes',
      ],
    ])('stops the boot for %s, and shows nothing of it', async (_, text, why) => {
      writeFileSync(file, text)

      expect(await refusal(boot(config()))).toBe(
        `REMIT_SECRETS_KEY_FILE: ${file} cannot be used: ${why}`,
      )
    })
  })

  test('is not needed where no module is loaded', async () => {
    const booted = await boot(config({ REMIT_EVALUATION: '0', REMIT_EDITION: 'community' }))
    await booted.remit.close()

    expect(existsSync(file)).toBe(false)
  })
})
