import type { UsageSinkSettings } from '@remit/core/module'
import { z } from 'zod'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'
import { readSettingFile } from './read-file.ts'

const Customers = z.record(z.string(), z.string().min(1))

/** Returns the billing system of the settings; undefined without one. Throws `ConfigError`. */
export function usageSinkSettings(config: Config): UsageSinkSettings | undefined {
  const { REMIT_USAGE_SINK: type, REMIT_USAGE_SINK_URL: url } = config
  if (type === undefined) return undefined
  if (url === undefined)
    throw new ConfigError('REMIT_USAGE_SINK_URL must be set with REMIT_USAGE_SINK')
  const customers = customersIn(config.REMIT_USAGE_CUSTOMERS_FILE)
  if (type === 'stripe' && customers === null)
    throw new ConfigError('REMIT_USAGE_CUSTOMERS_FILE must be set with REMIT_USAGE_SINK=stripe')
  const keyFile = config.REMIT_USAGE_SINK_KEY_FILE
  return {
    type,
    url,
    key:
      keyFile === undefined ? null : readSettingFile('REMIT_USAGE_SINK_KEY_FILE', keyFile).trim(),
    customers,
    everyMs: config.REMIT_USAGE_INTERVAL_MS,
    allowLoopback: config.REMIT_ALLOW_LOOPBACK_TARGETS,
  }
}

function customersIn(path: string | undefined): ReadonlyMap<string, string> | null {
  if (path === undefined) return null
  const { data } = Customers.safeParse(parsed(readSettingFile('REMIT_USAGE_CUSTOMERS_FILE', path)))
  if (data) return new Map(Object.entries(data))
  throw new ConfigError(
    'REMIT_USAGE_CUSTOMERS_FILE must be a JSON object: customer ids by id of the organization',
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
