import { describe, expect, it } from 'vitest'
import { OrganizationChange, OrganizationSettings, SETTINGS } from './organization.ts'

describe('a change of settings', () => {
  it.each(Object.keys(SETTINGS))('may name %s, and null for its default', (name) => {
    const { [name as keyof typeof SETTINGS]: standard } = OrganizationSettings.parse({})

    for (const value of [standard, null]) {
      const change = { settings: { [name]: value } }
      expect(OrganizationChange.parse(change)).toEqual(change)
    }
  })

  it('fills in nothing', () => {
    expect(OrganizationChange.parse({ settings: {} })).toEqual({ settings: {} })
  })
})
