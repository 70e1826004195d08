import { readFileSync } from 'node:fs'
import { MappingError } from '@remit/contract/coaz'
import { parseStrictJson, StrictJsonError } from '@remit/contract/json'
import { z } from 'zod'
import { compileCoaz } from '../mapping/coaz.ts'
import type { GatewayMapping } from '../decide/question.ts'
import { ConfigError, faultsOf, fileFault } from './faults.ts'
import { Mapping } from './schema.ts'
import type { GatewayConfig } from './schema.ts'

const Mappings = z.record(z.string(), Mapping)
type Mappings = z.infer<typeof Mappings>

/** The mappings of a configuration and of the file that it names, by tool. Throws `ConfigError`. */
export function mappingsOf({
  map,
  map_file: file,
}: Pick<GatewayConfig, 'map' | 'map_file'>): Record<string, GatewayMapping> {
  const other = file === undefined ? {} : mappingsIn(file)
  for (const tool of Object.keys(other))
    if (Object.hasOwn(map, tool)) throw new ConfigError(`map.${tool}: is in ${file} as well`)
  return Object.fromEntries(
    Object.entries({ ...map, ...other }).map(([tool, mapping]) => [tool, compiled(tool, mapping)]),
  )
}

function mappingsIn(file: string): Mappings {
  let value: unknown
  try {
    value = parseStrictJson(readFileSync(file))
  } catch (error) {
    const why = error instanceof StrictJsonError ? error.reason : fileFault(error)
    throw new ConfigError(`map_file: ${file} cannot be read (${why})`)
  }
  const read = Mappings.safeParse(value)
  if (read.success) return read.data
  throw new ConfigError(`map_file: ${file}: ${faultsOf(read.error.issues).join('\n  ')}`)
}

function compiled(tool: string, { authzen, ...mapping }: Mappings[string]): GatewayMapping {
  // JSON has no undefined members.
  const own = mapping as GatewayMapping
  if (authzen === undefined) return own
  try {
    return { ...own, authzen: compileCoaz(authzen) }
  } catch (error) {
    if (!(error instanceof MappingError)) throw error
    throw new ConfigError(`map.${tool}.authzen: ${error.message}`)
  }
}
