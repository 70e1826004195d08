import type { TestRemit } from './remit.ts'

/** The address that a `LoginBrowser` knows the server by. */
export const LOGIN_BASE = 'https://remit.test'

/** A browser without pages: it keeps cookies by origin and follows redirects. */
export class LoginBrowser {
  readonly #remit: TestRemit
  readonly #cookies = new Map<string, Map<string, string>>()
  /** Every address that it went to. */
  readonly visited: string[] = []

  constructor(remit: TestRemit) {
    this.#remit = remit
  }

  /** Opens an address; stops before an address that `until` accepts. */
  async open(address: string, until: (url: URL) => boolean = () => false) {
    let url = new URL(address, LOGIN_BASE)
    for (let hops = 0; hops < 20; hops++) {
      this.visited.push(url.href)
      const response = await this.#send(url)
      const location = response.headers.get('location')
      if (response.status < 300 || response.status > 399 || location === null)
        return { url, status: response.status, text: await response.text() }
      url = new URL(location, url)
      if (until(url)) return { url, status: response.status, text: '' }
    }
    throw new Error('too many redirects')
  }

  /** Calls the API as a page of the console does. */
  api(method: string, path: string, body?: unknown): Promise<Response> {
    const cookie = this.#header(new URL(LOGIN_BASE))
    const headers = { ...(cookie && { cookie }), 'sec-fetch-site': 'same-origin' }
    return this.#remit.call(method, path, { headers, ...(body !== undefined && { body }) })
  }

  async session() {
    const response = await this.api('GET', '/v1/session')
    return (await response.json()) as {
      principal: { type: string; id: string; email: string; role: string } | null
      organization: { id: string } | null
      endpoints: string[]
    }
  }

  /** The cookie of the sign-in on its way. */
  get attempt(): string {
    const [, value] = this.#attempt() ?? []
    if (value === undefined) throw new Error('no sign-in is on its way')
    return value
  }

  set attempt(value: string) {
    const [name] = this.#attempt() ?? ['__Host-remit_login']
    this.#cookies.get(LOGIN_BASE)?.set(name, value)
  }

  #attempt(): [string, string] | undefined {
    return [...(this.#cookies.get(LOGIN_BASE) ?? [])].find(([name]) => name.includes('_login'))
  }

  async #send(url: URL): Promise<Response> {
    const cookie = this.#header(url)
    const headers: Record<string, string> = cookie ? { cookie } : {}
    const response =
      url.origin === LOGIN_BASE
        ? await this.#remit.app.request(url.href, { headers })
        : await fetch(url, { headers, redirect: 'manual' })
    const jar = this.#cookies.get(url.origin) ?? new Map<string, string>()
    this.#cookies.set(url.origin, jar)
    for (const text of response.headers.getSetCookie()) {
      const [pair = ''] = text.split(';')
      const at = pair.indexOf('=')
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(text)) jar.delete(pair.slice(0, at))
      else jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
    return response
  }

  #header(url: URL): string {
    const jar = this.#cookies.get(url.origin) ?? new Map<string, string>()
    return [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
  }
}
