import { spawn } from 'node:child_process'
import { once as event } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startRemit } from '../../examples/test/support/server.ts'
import { FOLDER, ROOT } from './environment.ts'

interface Operation {
  readonly parameters?: readonly { readonly name?: string }[]
}

/** Lets Schemathesis call each operation of `openapi.json` on a server of its own. Returns the failed checks. */
export async function fuzz(seconds: string, seed: string | undefined): Promise<string[]> {
  const text = readFileSync(join(ROOT, 'openapi.json'), 'utf8')
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> }
  // They answer what is wrong with a body instead of refusing it.
  const lenient = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === 'validate'))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
  const config = join(FOLDER, 'schemathesis.toml')
  writeFileSync(
    config,
    `[[operations]]
include-name = ${JSON.stringify(lenient)}
checks.negative_data_rejection.enabled = false
`,
  )
  const server = await startRemit({ failedKeyLimit: 0 })
  const args = [
    '--config-file',
    config,
    'run',
    join(ROOT, 'openapi.json'),
    `--url=${server.url}`,
    `--header=Authorization: Bearer ${server.org.key}`,
    // Of two keys, the server accepts neither.
    '--generation-with-security-parameters=false',
    // Rules go further than a schema can: unique names, texts in NFC, conditions that compile.
    '--exclude-checks=positive_data_acceptance',
    `--max-time=${seconds}`,
    '--continue-on-failure',
    // A hook may wait that long for an approval.
    '--request-timeout=130',
    '--workers=1',
    ...(seed === undefined ? [] : [`--seed=${seed}`]),
  ]
  const child = spawn(join(FOLDER, 'schemathesis/bin/st'), args, { stdio: 'inherit', cwd: FOLDER })
  const [code] = (await event(child, 'close')) as [number | null]
  await server.stop()
  return code === 0 ? [] : ['a check failed: see above']
}
