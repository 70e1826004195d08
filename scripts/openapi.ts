/**
 * `pnpm openapi [--check] [file]`: writes the OpenAPI document of the whole contract, by default
 * `openapi.json` in the root, and the routes of the typed client. With `--check` it writes nothing
 * and exits with 1 if a file differs, so that a change of the API is part of the reviewed diff.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { endpoints, openApi } from '@remit/contract'
import { ROOT } from './staging.ts'

// The version of the API, not of a release: the file changes only with the API.
const API_VERSION = '1'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean', default: false } },
})
const file = positionals[0] ?? join(ROOT, 'openapi.json')
const document = `${JSON.stringify(openApi(endpoints, API_VERSION), null, 2)}\n`

const ROUTES = join(ROOT, 'packages/contract/src/client/routes.ts')

for (const [path, text] of [
  [file, document],
  [ROUTES, clientRoutes()],
] as const) {
  if (!values.check) await writeFile(path, text)
  else if ((await readFile(path, 'utf8').catch(() => '')) !== text) {
    console.error(`${path} does not match the contract; run \`pnpm openapi\` to rewrite it.`)
    process.exitCode = 1
  }
}

/**
 * Returns method, path and media type of each endpoint, so that the client does not load the
 * contract.
 */
function clientRoutes(): string {
  const rows = Object.entries(endpoints).map(([name, endpoint]) => {
    const media = endpoint.alsoProduces ? '*' : endpoint.produces
    const route = [endpoint.method, endpoint.path, ...(media ? [media] : [])].join(' ')
    const row = `  ${name}: '${route}',`
    return row.length <= 100 ? row : `  ${name}:\n    '${route}',`
  })
  return `import type { Contract, EndpointName } from '../contract.ts'

type Row<N extends EndpointName> = \`\${Contract[N]['method']} \${Contract[N]['path']}\`

/**
 * Method, path and, where the answer is not only JSON, its media type (\`*\`: several). Written by
 * \`pnpm openapi\`.
 */
export const routes: { readonly [N in EndpointName]: Row<N> | \`\${Row<N>} \${string}\` } = {
${rows.join('\n')}
}
`
}
