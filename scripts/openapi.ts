/**
 * `pnpm openapi [--check] [file]`: writes the OpenAPI document of the whole contract, `openapi.json`
 * beside the README unless told otherwise. With `--check` it writes nothing and ends with 1 when the
 * file says something else: a change of the API then shows in the diff that is reviewed.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { endpoints, openApi } from '@remit/contract'
import { ROOT } from './staging.ts'

// The version of the API, not of a release: the file changes when the API does.
const API_VERSION = '1'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false } },
})
const file = positionals[0] ?? join(ROOT, 'openapi.json')
const document = `${JSON.stringify(openApi(endpoints, API_VERSION), null, 2)}\n`

if (!values.check) await writeFile(file, document)
else if ((await readFile(file, 'utf8').catch(() => '')) !== document) {
  console.error(`${file} is not what the contract says; \`pnpm openapi\` writes it anew.`)
  process.exitCode = 1
}
