import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Ajv } from 'ajv'
import type { AnySchema, ValidateFunction } from 'ajv'
import { createGenerator } from 'ts-json-schema-generator'
import { inFullRun } from '@remit/testing/pure'
import { beforeAll, describe, expect, it } from 'vitest'

const FILE = resolve(import.meta.dirname, '../../../deploy/monitoring/dashboard.json')
const GRAFANA = dirname(new URL(import.meta.resolve('@grafana/schema/package.json')).pathname)

interface Panel {
  readonly title: string
  readonly type: string
  readonly options: unknown
  readonly fieldConfig: { readonly defaults: { readonly custom?: unknown } }
}

/** Validates values of a type that Grafana publishes, and refuses fields that Grafana does not know. */
function validatorOf(file: string, type: string): ValidateFunction {
  const path = join(GRAFANA, 'dist/types/raw', file, 'types.gen.d.ts')
  const options = { path, type, skipTypeCheck: true, additionalProperties: false }
  const schema = createGenerator({ ...options, jsDoc: 'none' }).createSchema(type)
  return new Ajv({ strict: false, allErrors: true }).compile(schema as AnySchema)
}

describe.skipIf(!inFullRun('checking the dashboard'))('the dashboard', () => {
  const dashboard = JSON.parse(readFileSync(FILE, 'utf8')) as { panels: Panel[] }
  const errorsOf = (validate: ValidateFunction, value: unknown) =>
    validate(value) ? [] : validate.errors

  it('is a dashboard of Grafana, with the fields that it knows', () => {
    expect(errorsOf(validatorOf('dashboard/x', 'Dashboard'), dashboard)).toEqual([])
  })

  describe('has panels', () => {
    const types = 'composable/timeseries/panelcfg/x'
    let [validateOptions, validateFields]: ValidateFunction[] = []
    beforeAll(() => {
      validateOptions = validatorOf(types, 'Options')
      validateFields = validatorOf(types, 'FieldConfig')
    })

    it.each(dashboard.panels)('with the options of its type: $title', (panel) => {
      const { type, options, fieldConfig } = panel

      expect(type).toBe('timeseries')
      expect(errorsOf(validateOptions!, options)).toEqual([])
      expect(errorsOf(validateFields!, fieldConfig.defaults.custom ?? {})).toEqual([])
    })
  })
})
