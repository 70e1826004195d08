const LOCAL = /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/

/**
 * The identifier of the policy decision point: the configured address, else the origin that was asked.
 * AuthZEN wants https. Where TLS ends before the server, what was asked by https arrives by http; so
 * only an address that was configured without it has none: null. This machine may do without.
 */
export function decisionPoint(baseUrl: string | undefined, asked: string): string | null {
  const url = new URL(baseUrl ?? asked)
  if (url.protocol !== 'https:' && !LOCAL.test(url.hostname)) {
    if (baseUrl !== undefined) return null
    url.protocol = 'https:'
  }
  return url.origin + (baseUrl === undefined ? '' : url.pathname.replace(/\/+$/, ''))
}

export const metadataOf = (identifier: string) => ({
  policy_decision_point: identifier,
  access_evaluation_endpoint: `${identifier}/access/v1/evaluation`,
  access_evaluations_endpoint: `${identifier}/access/v1/evaluations`,
})
