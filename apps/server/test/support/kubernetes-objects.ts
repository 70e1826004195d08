import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import type { AnySchema, ValidateFunction } from 'ajv'
import { createGenerator } from 'ts-json-schema-generator'
import { parseAllDocuments } from 'yaml'

const CHART = resolve(import.meta.dirname, '../../../../deploy/helm/remit')
const TYPES = dirname(fileURLToPath(import.meta.resolve('kubernetes-types/package.json')))
/** Files of the kinds that are in `deploy/`. */
const VERSIONS = 'apps/v1,autoscaling/v2,batch/v1,core/v1,networking/v1,policy/v1'

/**
 * Returns what is wrong with an object by the types of Kubernetes 1.30, the oldest one that Remit supports;
 * an unknown field is wrong, too.
 */
export type Validate = (object: { readonly kind: string }) => readonly unknown[]

/** Reads the types of Kubernetes, which takes seconds. */
export function readTypes(): Validate {
  const path = join(TYPES, `{${VERSIONS}}.d.ts`)
  const options = { path, skipTypeCheck: true, additionalProperties: false }
  const generator = createGenerator({ ...options, jsDoc: 'none', type: '*' })
  const validators = new Map<string, ValidateFunction>()
  return (object) => {
    let validate = validators.get(object.kind)
    if (!validate) {
      const schema = generator.createSchema(object.kind) as AnySchema
      validate = new Ajv({ strict: false, allErrors: true }).compile(schema)
      validators.set(object.kind, validate)
    }
    return validate(object) ? [] : (validate.errors ?? [])
  }
}

/** Returns the objects in a text of YAML. Throws if it is none. */
export const objectsOf = (text: string): readonly unknown[] =>
  parseAllDocuments(text).map((one) => {
    if (one.errors[0]) throw one.errors[0]
    return one.toJS() as unknown
  })

/** Runs a command of Helm on the chart, with values, and returns its output. Throws with its message. */
export function runHelm(helm: string, command: readonly string[], values: object = {}): string {
  const args = [...command, CHART, '--namespace', 'remit', '--values', '-']
  const { status, stdout, stderr } = spawnSync(helm, args, { input: JSON.stringify(values) })
  if (status !== 0) throw new Error(stderr.toString() || stdout.toString())
  return stdout.toString()
}

/** Returns the objects of an overlay of `deploy/kubernetes` with all components, as kubectl builds them. */
export function builtManifests(kubectl: string): readonly unknown[] {
  const overlay = mkdtempSync(join(tmpdir(), 'remit-overlay-'))
  try {
    const base = relative(realpathSync(overlay), resolve(CHART, '../../kubernetes'))
    const text = `resources: ['${base}']\ncomponents: ['${base}/autoscaling']\n`
    writeFileSync(join(overlay, 'kustomization.yaml'), text)
    const { stdout, stderr } = spawnSync(kubectl, ['kustomize', overlay], { encoding: 'utf8' })
    if (stderr !== '') throw new Error(stderr)
    return objectsOf(stdout)
  } finally {
    rmSync(overlay, { recursive: true })
  }
}
