import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { draw, timeNow } from './determinism.ts'
import { NAMES } from './requests.ts'
import type { Template } from './requests.ts'

/** How many of the newest ids of a kind are used. */
const NEWEST = 12

/** What the requests of a part know: chance, and what earlier answers have told. */
export class World {
  readonly #ids = new Map<string, string[]>()
  readonly #tags = new Map<string, string>()
  /** Texts of keys and credentials by who holds them. */
  readonly keys: Record<string, string> = {}

  /** A whole number below `n`. */
  below(n: number): number {
    return draw('dice').readUInt32BE() % n
  }
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T
  }
  chance(percent: number): boolean {
    return this.below(100) < percent
  }

  /** Keeps the ids, digests and secrets that an answer has. */
  learn(path: string, answer: string, etag: string | undefined): void {
    if (etag !== undefined) this.#tags.set(path, etag)
    const id = /\b([a-z]{3,4}_)(?:[0-9a-z]{26}|[0-9A-Za-z]{16})\b/g
    for (const [text, prefix = ''] of answer.matchAll(id)) this.keep(prefix, text)
    for (const [, text = ''] of answer.matchAll(/"digest":"([0-9a-f]{64})"/g))
      this.keep('digest', text)
    for (const [, text = ''] of answer.matchAll(/"(?:secret|access_token)":"(rm[a-z]_[^"]+)"/g))
      this.keep('secret', text)
  }
  keep(kind: string, text: string): void {
    const known = this.#ids.get(kind) ?? []
    this.#ids.set(kind, [text, ...known.filter((other) => other !== text)].slice(0, NEWEST))
  }
  newest(kind: string): string {
    return this.#ids.get(kind)?.[0] ?? `${kind}none`
  }
  /** Newer ones more often. */
  known(kind: string): string {
    const at = Math.min(this.below(NEWEST), this.below(NEWEST))
    return this.#ids.get(kind)?.[at] ?? this.newest(kind)
  }
  tagOf(path: string): string {
    return this.#tags.get(path) ?? '"1"'
  }

  /** The value of a template; undefined for none. */
  fill(template: Template): unknown {
    if (typeof template === 'string' && template.startsWith('$'))
      return this.valueOf(template.slice(1))
    if (Array.isArray(template))
      return template.map((item) => this.fill(item)).filter((item) => item !== undefined)
    if (typeof template !== 'object' || template === null) return template
    const members = Object.entries(template)
    const [[first, choices] = []] = members
    if (first === '$') return this.fill(this.pick(choices as Template[]))
    return Object.fromEntries(
      members.flatMap(([member, item]) => {
        const [name = '', percent = '100'] = member.split('?')
        const value = this.chance(Number(percent)) ? this.fill(item) : undefined
        return value === undefined ? [] : [[name, value]]
      }),
    )
  }

  /** The value of a name, without its `$`. */
  valueOf(text: string): unknown {
    const [name = '', first = '', second = '1'] = text.split(':')
    const step = Number(second)
    switch (name) {
      case 'none':
        return undefined
      case 'id':
        return this.known(first)
      case 'number':
        return Math.round(this.below(Math.round(Number(first) / step)) * step * 1e6) / 1e6
      case 'some':
        return Array.from({ length: 1 + this.below(Number(first)) }, () => this.valueOf(second))
      case 'token':
        return tokenOf(this)
      case 'jwk':
        return JWK
      case 'etag':
        return '$etag'
      default: {
        const alternatives = NAMES.get(name)
        if (!alternatives) throw new Error(`requests.txt has no name ${name}`)
        return this.fill(this.pick(alternatives))
      }
    }
  }
}

const der = Buffer.from(`302e020100300506032b657004220420${'5c'.repeat(32)}`, 'hex')
const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
const JWK = { ...createPublicKey(key).export({ format: 'jwk' }), kid: 'k1', alg: 'EdDSA' }

/** A token of the issuer, sometimes with a fault. */
function tokenOf(world: World): string {
  const now = Math.floor(timeNow() / 1000)
  const claims = {
    iss: world.chance(92) ? 'https://issuer.example' : 'https://other.example',
    aud: world.chance(92) ? 'https://remit.test/v1/identity/token' : 'x',
    sub: 'ci',
    agent: world.pick(['payer', 'payer', 'payer', 'buyer-1', 'ghost']),
    env: world.chance(90) ? 'prod' : 'test',
    jti: `j${world.below(60)}`,
    iat: now - world.below(50),
    exp: now + (world.chance(92) ? 300 : -300),
  }
  const header = { alg: 'EdDSA', typ: 'JWT', kid: world.chance(95) ? 'k1' : 'k2' }
  const encoded = [header, claims].map((part) => Buffer.from(JSON.stringify(part)))
  const text = encoded.map((part) => part.toString('base64url')).join('.')
  const signature = sign(null, Buffer.from(world.chance(95) ? text : 'other'), key)
  return `${text}.${signature.toString('base64url')}`
}
