import { z } from 'zod'
import type { OrganizationRow } from '../db/schema.ts'
import { invalid } from '../errors.ts'

const Effect = z.enum(['allow', 'deny'], 'must be allow or deny')

/** Every setting that an organization can have, with its default. The one place that knows them. */
const SETTINGS = {
  default_effect: Effect.default('allow').describe('The decision when no policy matches'),
  unknown_agents: Effect.default('allow').describe('Whether agents outside the registry may act'),
  four_eyes: z
    .boolean('must be true or false')
    .default(false)
    .describe('Whether two different people must stand behind every approval'),
  require_separate_keys: z
    .boolean('must be true or false')
    .default(false)
    .describe('Whether a key that may authorize (admin, ingest) is kept from deciding approvals'),
  consequential_actions: z
    .array(z.string().min(1).max(256), 'must be a list of patterns')
    .max(100)
    .default([])
    .describe('Patterns of actions that reports count as consequential'),
} as const

const Settings = z.object(SETTINGS)
export type OrganizationSettings = z.infer<typeof Settings>
type SettingName = keyof OrganizationSettings

/** Names of all settings, for messages and documents. */
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

/** The settings of an organization, defaults filled in. */
export const settingsOf = ({ settings }: Pick<OrganizationRow, 'settings'>): OrganizationSettings =>
  Settings.parse(JSON.parse(settings))

/**
 * The stored text after a change; `null` puts a setting back to its default. Settings of modules
 * that are not loaded now stay. Throws `invalid_request` for an unknown name or a bad value.
 */
export function changeSettings(stored: string, change: Readonly<Record<string, unknown>>): string {
  const settings = JSON.parse(stored) as Record<string, unknown>
  for (const [name, value] of Object.entries(change)) {
    if (!Object.hasOwn(SETTINGS, name)) {
      throw invalid(name, `is not a setting; there are ${SETTING_NAMES.join(', ')}`)
    }
    if (value === null) {
      delete settings[name]
      continue
    }
    const { error, data } = SETTINGS[name as SettingName].safeParse(value)
    if (error) throw invalid(name, error.issues[0]?.message ?? 'is not valid')
    settings[name] = data
  }
  return JSON.stringify(settings)
}
