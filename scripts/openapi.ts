/**
 * `pnpm openapi [--check] [file]`: writes the OpenAPI document of the whole contract, by default
 * `openapi.json` in the root, the routes of the typed client, and the JSON Schema of the documents of
 * policy sets. With `--check` it writes nothing and exits with 1 if a file differs, so that a change
 * of the API is part of the reviewed diff.
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
const api = openApi(endpoints, API_VERSION)
const textOf = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const ROUTES = join(ROOT, 'packages/contract/src/client/routes.ts')
const POLICY_SET = join(ROOT, 'packages/contract/policy-set.schema.json')

for (const [path, text] of [
  [file, textOf(api)],
  [ROUTES, clientRoutes()],
  [POLICY_SET, textOf(documentSchema())],
] as const) {
  if (!values.check) await writeFile(path, text)
  else if ((await readFile(path, 'utf8').catch(() => '')) !== text) {
    console.error(`${path} does not match the contract; run \`pnpm openapi\` to rewrite it.`)
    process.exitCode = 1
  }
}

/** The JSON Schema of one document of a policy set, for editors: as the API takes it. */
function documentSchema() {
  interface Body {
    content: { 'application/json': { schema: { properties: { documents: { items: object } } } } }
  }
  const paths = api['paths'] as Record<string, { post: { requestBody: Body } }>
  const plan = paths['/v1/policy-sets/{id}/plan']
  if (!plan) throw new Error('the contract has no plans of policy sets')
  const { content } = plan.post.requestBody
  const { items } = content['application/json'].schema.properties.documents
  const { schemas } = api['components'] as { schemas: Record<string, unknown> }
  const used = new Map<string, unknown>()
  const rename = (schema: unknown): unknown =>
    JSON.parse(
      JSON.stringify(schema).replaceAll(/"#\/components\/schemas\/(\w+)"/g, (_, name: string) => {
        if (!used.has(name)) {
          used.set(name, null)
          used.set(name, rename(schemas[name]))
        }
        return `"#/$defs/${name}"`
      }),
    )
  const schema = rename(items) as object
  const $defs = Object.fromEntries([...used].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema, $defs }
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
