import { readFileSync } from 'node:fs'
import { parseStrictJson, StrictJsonError } from '@remit/contract/json'
import { isMembers } from '../rpc/members.ts'
import { ConfigError, faultsOf, fileFault } from './faults.ts'
import { Command, GatewayConfig, Remote, Mapping } from './schema.ts'
import type { Value } from './schema.ts'
import type { GatewayMapping } from '../decide/question.ts'
import { MappingError } from '@remit/contract/coaz'
import { z } from 'zod'
import { compileCoaz } from '../mapping/coaz.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A server that the gateway starts, or one that it reaches over HTTP, with its secrets. */
export type UpstreamSettings =
  | {
      readonly kind: 'command'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
      readonly cwd?: string
    }
  | {
      readonly kind: 'remote'
      readonly url: URL
      readonly headers: Readonly<Record<string, string>>
    }

export interface GatewaySettings {
  readonly config: Omit<GatewayConfig, 'upstreams' | 'listen' | 'public_url' | 'map' | 'map_file'>
  /** By tool. */
  readonly mappings: Readonly<Record<string, GatewayMapping>>
  readonly host: string
  readonly port: number
  /** Null: the address at which it listens. */
  readonly publicUrl: URL | null
  readonly upstreams: ReadonlyMap<string, UpstreamSettings>
}

/** Reads `gateway.json` and the secrets that it names. Throws `ConfigError`. */
export function readGatewayConfig(path: string, env: Environment): GatewaySettings {
  try {
    return settingsOf(parse(contentOf(path)), env)
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(`${path}: ${error.message}`)
    throw error
  }
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new ConfigError(`cannot be read (${fileFault(error)})`)
  }
}

function parse(bytes: Buffer): GatewayConfig {
  let value: unknown
  try {
    value = parseStrictJson(bytes)
  } catch (error) {
    if (error instanceof StrictJsonError) throw new ConfigError(error.reason)
    throw error
  }
  const read = GatewayConfig.safeParse(value)
  if (read.success) return read.data
  const faults = read.error.issues.filter(({ code }) => code !== 'invalid_union')
  throw new ConfigError([...faultsOf(faults), ...upstreamFaults(value)].join('\n  '))
}

/** A server is checked against the one form that it has, so that the faults are those of that form. */
function upstreamFaults(value: unknown): string[] {
  const upstreams = isMembers(value) && isMembers(value['upstreams']) ? value['upstreams'] : {}
  return Object.entries(upstreams).flatMap(([name, upstream]) => {
    const at = ['upstreams', name]
    if (!isMembers(upstream) || 'command' in upstream === 'url' in upstream)
      return [`${at.join('.')}: must have either "command" or "url"`]
    const { error } = ('url' in upstream ? Remote : Command).safeParse(upstream)
    return error ? faultsOf(error.issues, at) : []
  })
}

function settingsOf(config: GatewayConfig, env: Environment): GatewaySettings {
  const { listen, public_url: publicUrl, upstreams, map, map_file: file, ...rest } = config
  const colon = listen.lastIndexOf(':')
  const host = listen.slice(0, colon).replace(/^\[(.*)\]$/, '$1')
  const port = Number(listen.slice(colon + 1))
  if (port > 65_535) throw new ConfigError('listen: must be HOST:PORT, with a port up to 65535')
  if (publicUrl === undefined && !isLoopback(host))
    throw new ConfigError(
      `public_url: is required, because listen is ${listen} and not an address of this machine alone`,
    )
  return {
    config: rest,
    mappings: mappingsOf({ map, map_file: file }),
    host,
    port,
    publicUrl: publicUrl === undefined ? null : baseOf(publicUrl),
    upstreams: new Map(
      Object.entries(upstreams).map(([name, upstream]) => [name, resolved(name, upstream, env)]),
    ),
  }
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)

function baseOf(text: string): URL {
  const url = new URL(text)
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw new ConfigError('public_url: must be an address without path, query and credentials')
  return url
}

function resolved(
  name: string,
  upstream: GatewayConfig['upstreams'][string],
  env: Environment,
): UpstreamSettings {
  const texts = (member: string, values: Readonly<Record<string, Value>>) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [
        key,
        textOf(`upstreams.${name}.${member}.${key}`, value, env),
      ]),
    )
  if (!('url' in upstream)) {
    const { command, args, cwd } = upstream
    const own = texts('env', upstream.env)
    return { kind: 'command', command, args, env: own, ...(cwd !== undefined && { cwd }) }
  }
  const url = new URL(upstream.url)
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw new ConfigError(
      `upstreams.${name}.url: must be an address without credentials and fragment; use headers`,
    )
  const headers = texts('headers', upstream.headers)
  try {
    // Refuses names and values that no request can carry.
    void new Headers(headers)
  } catch {
    throw new ConfigError(`upstreams.${name}.headers: must be names and values of HTTP headers`)
  }
  return { kind: 'remote', url, headers }
}

function textOf(place: string, value: Value, env: Environment): string {
  if (typeof value === 'string') return value
  if ('env' in value) {
    const text = env[value.env]
    if (text === undefined) throw new ConfigError(`${place}: the variable ${value.env} is not set`)
    return text
  }
  try {
    return readFileSync(value.file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`${place}: ${value.file} cannot be read (${fileFault(error)})`)
  }
}

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
