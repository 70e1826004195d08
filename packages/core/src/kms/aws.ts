import { createPublicKey } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { askService, bytesOf, KeyServiceError, needed } from './service.ts'
import type { Env, RemoteKey } from './service.ts'

const NAME = 'AWS KMS'
/** Plain Ed25519 over the whole message; the prehashed variant makes another signature. */
const ALGORITHM = { MessageType: 'RAW', SigningAlgorithm: 'ED25519_SHA_512' } as const

/** A key of AWS KMS: `ECC_NIST_EDWARDS25519` to sign, a symmetric one to decrypt. */
export function awsKms(key: string, env: Env, endpoint?: string): RemoteKey {
  const ask = async (action: string, body: object) => {
    // arn:aws:kms:<region>:<account>:key/<id>
    const region = key.split(':')[3] ?? needed(NAME, env, 'AWS_REGION')
    const token = env['AWS_SESSION_TOKEN']
    const signed = await new AwsV4Signer({
      method: 'POST',
      url: endpoint ?? `https://kms.${region}.amazonaws.com/`,
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `TrentService.${action}`,
      },
      body: JSON.stringify({ KeyId: key, ...body }),
      service: 'kms',
      region,
      accessKeyId: needed(NAME, env, 'AWS_ACCESS_KEY_ID'),
      secretAccessKey: needed(NAME, env, 'AWS_SECRET_ACCESS_KEY'),
      ...(token && { sessionToken: token }),
    }).sign()
    return askService(NAME, signed.url.href, {
      method: 'POST',
      headers: Object.fromEntries(signed.headers),
      body: JSON.stringify({ KeyId: key, ...body }),
    })
  }
  return {
    async publicKey() {
      const { PublicKey } = await ask('GetPublicKey', {})
      return ed25519Of(bytesOf(NAME, PublicKey))
    },
    async sign(message) {
      const text = Buffer.from(message).toString('base64')
      const { Signature } = await ask('Sign', { Message: text, ...ALGORITHM })
      return bytesOf(NAME, Signature, 64)
    },
    async decrypt(ciphertext) {
      const { Plaintext } = await ask('Decrypt', { CiphertextBlob: ciphertext })
      return bytesOf(NAME, Plaintext)
    },
  }
}

/** The raw key of a SubjectPublicKeyInfo. */
function ed25519Of(spki: Buffer): Uint8Array {
  try {
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    const { x } = key.export({ format: 'jwk' })
    if (key.asymmetricKeyType === 'ed25519' && x !== undefined) return Buffer.from(x, 'base64url')
  } catch {
    // Not a key at all.
  }
  throw new KeyServiceError(`${NAME}: the key is not an Ed25519 key`)
}
