import { createSecretKey, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createSecretBox, SecretUnreadable, SECRETS_KEY_BYTES, secretsKeyId } from './secret-box.ts'

const key = () => createSecretKey(randomBytes(SECRETS_KEY_BYTES))
const TEXT = 'whsec_äöü'
const PLACE = 'webhook/org_1/whk_1/secret'

const why = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    if (error instanceof SecretUnreadable) return error.message
    throw error
  }
  return 'opened'
}

describe('a secret box', () => {
  it('opens what it sealed, and shows nothing of it', () => {
    const only = key()
    const box = createSecretBox([only])
    const sealed = box.seal(TEXT, PLACE)

    expect(sealed).toMatch(new RegExp(`^enc1\\.${secretsKeyId(only)}\\.[\\w-]+$`))
    expect(Buffer.from(sealed.split('.')[2]!, 'base64url').toString('latin1')).not.toContain(
      'whsec',
    )
    expect(box.open(sealed, PLACE)).toBe(TEXT)
    expect(box.open(box.seal('', PLACE), PLACE)).toBe('')
  })

  it('never seals the same text twice to the same', () => {
    const box = createSecretBox([key()])

    expect(box.seal(TEXT, PLACE)).not.toBe(box.seal(TEXT, PLACE))
  })

  it('opens for the place that it was sealed for, and no other', () => {
    const box = createSecretBox([key()])
    const sealed = box.seal(TEXT, PLACE)

    expect(why(() => box.open(sealed, 'webhook/org_1/whk_2/secret'))).toBe(
      'the stored secret was changed or belongs to another row',
    )
  })

  it('refuses what was changed in any byte', () => {
    const box = createSecretBox([key()])
    const [prefix, id, body = ''] = box.seal(TEXT, PLACE).split('.')
    const bytes = Buffer.from(body, 'base64url')
    for (const i of bytes.keys()) {
      const changed = Buffer.from(bytes)
      changed[i]! ^= 1
      const text = `${prefix}.${id}.${changed.toString('base64url')}`
      expect(why(() => box.open(text, PLACE))).toBe(
        'the stored secret was changed or belongs to another row',
      )
    }
    const short = `${prefix}.${id}.${bytes.subarray(0, 20).toString('base64url')}`
    expect(why(() => box.open(short, PLACE))).toBe('the stored secret is not encrypted')
    expect(why(() => box.open(TEXT, PLACE))).toBe('the stored secret is not encrypted')
  })

  it('seals with its first key and opens with all', () => {
    const [old, next] = [key(), key()]
    const sealed = createSecretBox([old]).seal(TEXT, PLACE)
    const both = createSecretBox([next, old])

    expect(both.open(sealed, PLACE)).toBe(TEXT)
    expect(both.isCurrent(sealed)).toBe(false)
    const resealed = both.seal(TEXT, PLACE)
    expect(both.isCurrent(resealed)).toBe(true)
    expect(createSecretBox([next]).open(resealed, PLACE)).toBe(TEXT)
    expect(why(() => createSecretBox([next]).open(sealed, PLACE))).toBe(
      `the key ${secretsKeyId(old)} is not in the key file`,
    )
  })

  it('without a key seals nothing', () => {
    const box = createSecretBox([])

    expect(why(() => box.seal(TEXT, PLACE))).toBe(
      'no key for the encryption of secrets is configured',
    )
    expect(box.isCurrent(TEXT)).toBe(false)
  })
})
