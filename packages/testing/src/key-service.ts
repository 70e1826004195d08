import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { listening } from './on-demand.ts'

/** The wrong answers of a fake key service. */
export type Fault = 'none' | 'down' | 'sealed' | 'wrong signature' | 'refuses'

/**
 * A fake of AWS KMS and of Vault's transit engine: the few calls that Remit makes, with one Ed25519 key. AWS KMS is
 * made from its documents; Vault answers as the real one does in `apps/server/test/vault.test.ts`.
 */
export interface FakeKeyService extends AsyncDisposable {
  readonly url: string
  fault: Fault
  readonly seen: readonly IncomingHttpHeaders[]
  /** Signs with a new key from now on: a version in Vault, another key behind the alias in AWS. */
  rotate(): void
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
type Answer = readonly [status: number, body: object]

const INVALID_TOKEN: Answer = [
  403,
  { errors: ['2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n'] },
]
const SEALED: Answer = [503, { errors: ['Vault is sealed'] }]

export async function startKeyService(): Promise<FakeKeyService> {
  let newest = generateKeyPairSync('ed25519')
  const versions = [newest]
  const spkiOf = (key: KeyObject) => key.export({ format: 'der', type: 'spki' })
  const secrets = new Map<string, string>()
  const seen: IncomingHttpHeaders[] = []
  const signed = (message: string) => {
    const bytes = sign(null, Buffer.from(message, 'base64'), newest.privateKey)
    return (service.fault === 'wrong signature' ? randomBytes(64) : bytes).toString('base64')
  }
  const aws = (action: string, { Message = '', CiphertextBlob = '' }: Body): Answer => {
    if (service.fault === 'refuses') return [403, {}]
    if (action === 'GetPublicKey')
      return [200, { PublicKey: spkiOf(newest.publicKey).toString('base64') }]
    if (action === 'Sign') return [200, { Signature: signed(Message) }]
    const text = secrets.get(CiphertextBlob)
    if (text === undefined) return [400, { __type: 'InvalidCiphertextException' }]
    return [200, { Plaintext: Buffer.from(text).toString('base64') }]
  }
  const vault = (path: string, { input = '', ciphertext = '' }: Body): Answer => {
    if (service.fault === 'sealed') return SEALED
    if (service.fault === 'refuses') return INVALID_TOKEN
    if (path === '/v1/transit/keys/remit') return [200, { data: describe() }]
    if (path === '/v1/transit/sign/remit') {
      const signature = `vault:v${versions.length}:${signed(input)}`
      return [200, { data: { key_version: versions.length, signature } }]
    }
    if (path !== '/v1/transit/decrypt/remit') return [404, { errors: [] }]
    const text = secrets.get(ciphertext)
    if (text === undefined) return [400, { errors: ['invalid ciphertext length'] }]
    return [200, { data: { plaintext: Buffer.from(text).toString('base64') } }]
  }
  const describe = () => {
    const keys = versions.map(({ publicKey }, index) => {
      const creation = { certificate_chain: '', creation_time: '2026-11-28T17:35:14.442105273Z' }
      const key = spkiOf(publicKey).subarray(-32).toString('base64')
      return [index + 1, { ...creation, hybrid_public_key: '', name: 'ed25519', public_key: key }]
    })
    const data = { keys: Object.fromEntries(keys) as object, latest_version: versions.length }
    return { type: 'ed25519', derived: false, name: 'remit', ...data }
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
      const [status, content] = answer
      return response.writeHead(status).end(JSON.stringify(content))
    })
  })
  const service: FakeKeyService = {
    url: `http://127.0.0.1:${await listening(server)}`,
    fault: 'none',
    seen,
    rotate() {
      newest = generateKeyPairSync('ed25519')
      versions.push(newest)
    },
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
