import { createOrganization, findOrganization, listOrganizations, parseKey } from '@remit/core'
import type { RemitOptions } from '@remit/core'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'

/** The key of the organization that the first start makes; `shown` when it was made up here. */
export interface FirstKey {
  readonly organization: string
  readonly secret: string
  readonly given: boolean
}

/** Host part of ledger origins: that of the base URL. */
export const originHost = (config: Config): string =>
  config.REMIT_BASE_URL === undefined ? `localhost:${config.REMIT_PORT}` : new URL(config.REMIT_BASE_URL).host

/** Makes the organization that the settings ask for, unless it is there. Null when nothing was made. */
export async function bootstrap(config: Config, options: RemitOptions): Promise<FirstKey | null> {
  const name = config.REMIT_BOOTSTRAP_ORG ?? (config.REMIT_BOOTSTRAP_KEY === undefined ? undefined : 'default')
  if (name === undefined || (await findOrganization(options.db, name))) return null
  // Without a given key, a second organization would only be made by a mistyped name.
  if (config.REMIT_BOOTSTRAP_KEY === undefined && (await listOrganizations(options.db)).length > 0) return null
  const given = config.REMIT_BOOTSTRAP_KEY
  const key = given === undefined ? undefined : parseKey(given)
  if (key === null) throw new ConfigError('REMIT_BOOTSTRAP_KEY has a wrong check sum; make one with `remit key generate`')
  const created = await createOrganization({ ...options, host: originHost(config) }, name, 'enterprise', key)
  return { organization: name, secret: created.key.secret, given: given !== undefined }
}
