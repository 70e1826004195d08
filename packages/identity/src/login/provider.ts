import type { OidcSettings } from '@remit/core/module'
import type { Outbound } from '@remit/core/net'
import * as oidc from 'openid-client'

/** The metadata of the provider is read again after an hour. */
const METADATA_MS = 60 * 60 * 1000

/** Values that a browser must bring back from the identity provider. */
export interface Challenge {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** The claims of the identity provider about a person. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
  /** Null unless the provider has verified the address. */
  readonly email: string | null
  readonly name: string | null
  readonly groups: readonly string[]
}

/** The settings of a provider and of its client. */
export type ProviderSettings = Pick<
  OidcSettings,
  'issuer' | 'clientId' | 'clientSecret' | 'scopes' | 'roleClaim' | 'allowLoopback'
>

/** An OpenID provider: the code flow with PKCE, `state`, `nonce` and the check of `iss`. */
export class IdentityProvider {
  readonly #settings: ProviderSettings
  readonly #outbound: Outbound
  readonly #redirectUri: () => string
  #configuration: Promise<oidc.Configuration> | null = null
  #readAt = 0

  /** `redirectUri`: of the page that receives the code. */
  constructor(settings: ProviderSettings, outbound: Outbound, redirectUri: () => string) {
    this.#settings = settings
    this.#outbound = outbound
    this.#redirectUri = redirectUri
  }

  get label(): string {
    return new URL(this.#settings.issuer).host
  }

  /** Rejects unless the metadata of the issuer can be read. */
  async check(): Promise<void> {
    await this.#read()
  }

  /** Returns a new challenge and the URL to send the browser to. */
  async begin(asksAgain: boolean): Promise<{ challenge: Challenge; url: string }> {
    const configuration = await this.#read()
    const challenge = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    }
    const url = oidc.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri(),
      scope: this.#settings.scopes,
      code_challenge: await oidc.calculatePKCECodeChallenge(challenge.verifier),
      code_challenge_method: 'S256',
      state: challenge.state,
      nonce: challenge.nonce,
      ...(asksAgain && { prompt: 'login' }),
    })
    return { challenge, url: webUrl(url) }
  }

  /** Exchanges the code of the return for an identity; rejects if any check fails. */
  async finish(search: string, { state, nonce, verifier }: Challenge): Promise<Identity> {
    const configuration = await this.#read()
    // Not the URL of the request: a proxy may have changed it.
    const url = new URL(this.#redirectUri())
    url.search = search
    const tokens = await oidc.authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    })
    const claims = tokens.claims()
    if (!claims) throw new Error('the response has no ID token')
    const { userinfo_endpoint: more } = configuration.serverMetadata()
    const isWhole = claims['email'] !== undefined || more === undefined
    const facts = isWhole
      ? claims
      : {
          ...(await oidc.fetchUserInfo(configuration, tokens.access_token, claims.sub)),
          ...claims,
        }
    return this.#identityOf(claims.iss, claims.sub, facts)
  }

  /** Returns the URL that signs out at the provider; null where it has none. */
  async signOutUrl(): Promise<string | null> {
    const configuration = await this.#read().catch(() => null)
    if (!configuration?.serverMetadata().end_session_endpoint) return null
    const back = new URL('/console', this.#redirectUri()).href
    return webUrl(oidc.buildEndSessionUrl(configuration, { post_logout_redirect_uri: back }))
  }

  #identityOf(issuer: string, subject: string, facts: Readonly<Record<string, unknown>>): Identity {
    const { email, email_verified: isVerified, name } = facts
    const groups = facts[this.#settings.roleClaim]
    return {
      issuer,
      subject,
      email: typeof email === 'string' && isVerified === true ? email : null,
      name: typeof name === 'string' && /^[^\p{C}]{1,128}$/u.test(name) ? name : null,
      groups: [groups].flat().filter((group) => typeof group === 'string'),
    }
  }

  #read(): Promise<oidc.Configuration> {
    if (performance.now() - this.#readAt > METADATA_MS) this.#configuration = null
    this.#configuration ??= this.#discover().catch((error: unknown) => {
      this.#configuration = null
      throw error
    })
    return this.#configuration
  }

  async #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret, allowLoopback } = this.#settings
    const isPlain = allowLoopback && issuer.startsWith('http:')
    const configuration = await oidc.discovery(
      new URL(issuer),
      clientId,
      {},
      clientSecret === null ? oidc.None() : oidc.ClientSecretBasic(clientSecret),
      {
        [oidc.customFetch]: (url, options) => this.#fetch(url, options),
        // The library does not check the signature of ID tokens otherwise.
        execute: [
          oidc.enableNonRepudiationChecks,
          // eslint-disable-next-line typescript/no-deprecated -- the mark is a warning; loopback only
          ...(isPlain ? [oidc.allowInsecureRequests] : []),
        ],
      },
    )
    configuration[oidc.customFetch] = (url, options) => this.#fetch(url, options)
    this.#readAt = performance.now()
    return configuration
  }

  async #fetch(url: string, options: oidc.CustomFetchOptions): Promise<Response> {
    const { method, headers, body } = options
    const response = await this.#outbound.fetch(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body != null && { body: textOf(body) }),
      ...(options.signal && { signal: options.signal }),
    })
    return new Response(Buffer.from(response.body), {
      status: response.status,
      headers: { 'content-type': response.contentType },
    })
  }
}

/** A browser follows it: metadata must not name a script. */
function webUrl({ href, protocol }: URL): string {
  if (protocol === 'https:' || protocol === 'http:') return href
  throw new Error('the metadata of the provider names an address that is not of the web')
}

function textOf(body: NonNullable<oidc.CustomFetchOptions['body']>): string {
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new Error('the client sends forms and texts only')
}
