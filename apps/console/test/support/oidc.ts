import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LOGIN_CLIENT } from '@remit/testing'
import type { LoginProvider } from '@remit/testing'
import type { APIRequestContext } from 'playwright-core'
import type { Installation, Server } from './server.ts'

/** The settings of a process that lets people sign in with a provider. */
export function oidcEnv(
  { ledgerKeyFile }: Installation,
  { issuer }: LoginProvider,
): Record<string, string> {
  const secretFile = join(dirname(ledgerKeyFile), 'oidc-secret')
  writeFileSync(secretFile, LOGIN_CLIENT.clientSecret)
  return {
    REMIT_OIDC_ISSUER: issuer,
    REMIT_OIDC_CLIENT_ID: LOGIN_CLIENT.clientId,
    REMIT_OIDC_CLIENT_SECRET_FILE: secretFile,
    REMIT_ALLOW_LOOPBACK_TARGETS: '1',
  }
}

/** A provider knows redirect addresses by name, and cookies belong to one. */
export const byName = (server: Server): Server => ({
  ...server,
  url: server.url.replace('127.0.0.1', 'localhost'),
})

const MOST_HOPS = 10

/**
 * Goes through a sign-in as the browser of `requests` would, and returns the address of the return
 * without opening it. `change`: what an attacker does to the request to the provider.
 */
export async function returnOf(
  requests: APIRequestContext,
  base: string,
  change: (authorization: URL) => void = () => undefined,
): Promise<URL> {
  let url = new URL('/console/login', base)
  for (let hops = 0; hops < MOST_HOPS; hops++) {
    const response = await requests.get(url.href, { maxRedirects: 0 })
    const { location } = response.headers()
    if (location === undefined)
      throw new Error(`${url.href}: ${response.status()} ${await response.text()}`)
    url = new URL(location, url)
    if (url.searchParams.has('code_challenge')) change(url)
    if (url.pathname === '/console/callback') return url
  }
  throw new Error('too many redirects')
}
