import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { listening } from './on-demand.ts'

/** The wrong answers of a fake key service. */
export type Fault = 'none' | 'down' | 'wrong signature' | 'refuses'

/**
 * A fake of AWS KMS and of Vault's transit engine, made from the vendors' documents: the few calls that
 * Remit makes, with one Ed25519 key.
 */
export interface FakeKeyService extends AsyncDisposable {
  readonly url: string
  fault: Fault
  readonly seen: readonly IncomingHttpHeaders[]
  /** The encrypted forms of the text, for `decrypt` of AWS (base64) and of Vault. */
  wrap(text: string): { readonly aws: string; readonly vault: string }
}

/** The environment that Remit needs to call it. */
export const KEY_SERVICE_ENV = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  VAULT_TOKEN: 'hvs.token',
} as const

type Body = Readonly<Record<string, string>>

export async function startKeyService(): Promise<FakeKeyService> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const spki = publicKey.export({ format: 'der', type: 'spki' })
  const secrets = new Map<string, string>()
  const seen: IncomingHttpHeaders[] = []
  const signed = (message: string) => {
    const bytes = sign(null, Buffer.from(message, 'base64'), privateKey)
    return (service.fault === 'wrong signature' ? randomBytes(64) : bytes).toString('base64')
  }
  const aws = (action: string, { Message = '', CiphertextBlob = '' }: Body): unknown => {
    if (action === 'GetPublicKey') return { PublicKey: spki.toString('base64') }
    if (action === 'Sign') return { Signature: signed(Message) }
    const text = secrets.get(CiphertextBlob)
    return text === undefined ? null : { Plaintext: Buffer.from(text).toString('base64') }
  }
  const vault = (path: string, { input = '', ciphertext = '' }: Body): unknown => {
    const raw = spki.subarray(-32).toString('base64')
    if (path === '/v1/transit/keys/remit')
      return { data: { type: 'ed25519', latest_version: 2, keys: { 2: { public_key: raw } } } }
    if (path === '/v1/transit/sign/remit')
      return { data: { signature: `vault:v2:${signed(input)}` } }
    const text = path === '/v1/transit/decrypt/remit' ? secrets.get(ciphertext) : undefined
    return text === undefined ? null : { data: { plaintext: Buffer.from(text).toString('base64') } }
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push(request.headers)
      if (service.fault === 'down') return response.destroy()
      const text = Buffer.concat(chunks).toString('utf8')
      const body = (text === '' ? {} : JSON.parse(text)) as Body
      const action = String(request.headers['x-amz-target'] ?? '').split('.')[1]
      const answer = action === undefined ? vault(request.url ?? '', body) : aws(action, body)
      if (answer === null || service.fault === 'refuses') return response.writeHead(403).end('{}')
      return response.writeHead(200).end(JSON.stringify(answer))
    })
  })
  const service: FakeKeyService = {
    url: `http://127.0.0.1:${await listening(server)}`,
    fault: 'none',
    seen,
    wrap(text) {
      const blob = randomBytes(40).toString('base64')
      secrets.set(blob, text)
      secrets.set(`vault:v1:${blob}`, text)
      return { aws: blob, vault: `vault:v1:${blob}` }
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return service
}
