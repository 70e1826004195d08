import { askService, bytesOf, KeyServiceError, needed } from './service.ts'
import type { Env, RemoteKey } from './service.ts'

const NAME = 'Vault'

/** A key of the transit engine of Vault or OpenBao: type `ed25519` to sign, a symmetric one to decrypt. */
export function vaultTransit(
  { mount, key }: { readonly mount: string; readonly key: string },
  env: Env,
  endpoint?: string,
): RemoteKey {
  const ask = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const address = (endpoint ?? needed(NAME, env, 'VAULT_ADDR')).replace(/\/$/, '')
    const namespace = env['VAULT_NAMESPACE']
    const headers = {
      'content-type': 'application/json',
      'x-vault-token': needed(NAME, env, 'VAULT_TOKEN'),
      ...(namespace && { 'x-vault-namespace': namespace }),
    }
    const url = `${address}/v1/${mount}/${path}/${key}`
    const { data } = await askService(NAME, url, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return (data ?? {}) as Readonly<Record<string, unknown>>
  }
  /** The version that this process signs with: the newest at its first look. */
  let version: Promise<{ readonly number: number; readonly key: Uint8Array }> | null = null
  const newest = () =>
    (version ??= readNewest().catch((error: unknown) => {
      version = null
      throw error
    }))
  const readNewest = async () => {
    const { type, latest_version: number, keys } = await ask('GET', 'keys')
    if (type !== 'ed25519') throw new KeyServiceError(`${NAME}: the key is not an Ed25519 key`)
    const versions = (keys ?? {}) as Readonly<Record<string, { public_key?: unknown } | undefined>>
    const found = versions[String(number)]?.public_key
    return { number: Number(number), key: bytesOf(NAME, found, 32) }
  }
  return {
    publicKey: async () => (await newest()).key,
    async sign(message) {
      const { number } = await newest()
      const input = Buffer.from(message).toString('base64')
      const { signature } = await ask('POST', 'sign', { input, key_version: number })
      const [, encoded] = /^vault:v\d+:(.+)$/.exec(String(signature)) ?? []
      return bytesOf(NAME, encoded, 64)
    },
    async decrypt(ciphertext) {
      const { plaintext } = await ask('POST', 'decrypt', { ciphertext })
      return bytesOf(NAME, plaintext)
    },
  }
}
