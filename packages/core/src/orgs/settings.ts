import { parseJson } from '@remit/contract/json'
import { OrganizationSettings, SETTINGS } from '@remit/contract'
import type { OrganizationRow } from '../db/schema.ts'
import { invalid } from '../base/errors.ts'
import { fieldErrors, FOR_FIELD_ERRORS } from '../base/fields.ts'

type SettingName = keyof OrganizationSettings

/** Names of all settings, for messages and documents. */
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

const DEFAULTS = OrganizationSettings.parse({})

/** Returns the settings of an organization, including defaults. */
export const settingsOf = ({ settings }: Pick<OrganizationRow, 'settings'>): OrganizationSettings =>
  OrganizationSettings.parse(JSON.parse(settings))

/**
 * Returns the stored text after a change; `null` restores a default, and `undefined` changes
 * nothing. Unknown stored settings are kept. Throws `invalid_request` for an unknown name or an
 * invalid value.
 */
export function changeSettings(stored: string, change: Readonly<Record<string, unknown>>): string {
  const settings = JSON.parse(stored) as Record<string, unknown>
  for (const [name, value] of Object.entries(change)) {
    if (!Object.hasOwn(SETTINGS, name)) {
      throw invalid(name, `is not a setting; the settings are ${SETTING_NAMES.join(', ')}`)
    }
    if (value === undefined) continue
    if (value === null) {
      delete settings[name]
      continue
    }
    const { error, data } = SETTINGS[name as SettingName].safeParse(value, FOR_FIELD_ERRORS)
    if (error) throw invalid(name, fieldErrors(error.issues)[0]?.message ?? 'is not valid')
    settings[name] = data
  }
  return JSON.stringify(settings)
}

/**
 * Parses a setting from the command line: JSON, else a comma-separated list for list settings, else
 * text; null for an empty text.
 */
export function settingFromText(name: string, text: string): unknown {
  if (text === '') return null
  const json = parseJson(text)
  const value = json === undefined ? text : json
  const isList = Object.hasOwn(DEFAULTS, name) && Array.isArray(DEFAULTS[name as SettingName])
  return isList && !Array.isArray(value) ? text.split(',').map((part) => part.trim()) : value
}
