import { distance } from 'fastest-levenshtein'

/** Names for clients, tests, deployments and the documentation, which the server ignores. */
const FOREIGN = /^REMIT_(KEY|API_KEY|OMIT_KEY|URL|CREDENTIAL|IMAGE|WEBHOOK_SECRET|TEST_\w*)$/

/**
 * Variables that Kubernetes sets for each Service of the namespace; for a Service whose name starts
 * with `remit`, they start with `REMIT_`
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
const SERVICE_LINK = /_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/
const SERVICE_ADDRESS = /^(tcp|udp|sctp):\/\//

/** The names of an environment, classified for the server. */
export interface EnvironmentNames {
  /** Values of the server's settings, by name. */
  readonly given: Readonly<Record<string, string>>
  /** Probable misspellings, each with the setting. */
  readonly nearMisses: readonly (readonly [name: string, setting: string])[]
  /** Other names that start with `REMIT_`. */
  readonly unknown: readonly string[]
}

/** Classifies the `REMIT_` names of an environment; an empty value counts as missing. */
export function sortNames(
  env: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): EnvironmentNames {
  const given: Record<string, string> = {}
  const nearMisses: [string, string][] = []
  const unknown: string[] = []
  for (const [name, value = ''] of Object.entries(env)) {
    if (!name.startsWith('REMIT_') || value === '') continue
    if (FOREIGN.test(name) || isServiceLink(name, value)) continue
    const nearest = nearestTo(name, settings)
    if (settings.includes(name)) given[name] = value
    else if (nearest !== undefined) nearMisses.push([name, nearest])
    else unknown.push(name)
  }
  return { given, nearMisses, unknown }
}

const isServiceLink = (name: string, value: string): boolean =>
  SERVICE_LINK.test(name) || (name.endsWith('_PORT') && SERVICE_ADDRESS.test(value))

/**
 * Returns the setting that a name probably means: one without its last words (`REMIT_DATABASE`), or else
 * one that differs in a few letters.
 */
function nearestTo(name: string, settings: readonly string[]): string | undefined {
  const letters = (setting: string): number =>
    setting.startsWith(`${name}_`) ? 0 : distance(name, setting)
  const [nearest = ''] = settings.toSorted((a, b) => letters(a) - letters(b))
  return letters(nearest) <= Math.min(3, (name.length - 6) / 2) ? nearest : undefined
}
