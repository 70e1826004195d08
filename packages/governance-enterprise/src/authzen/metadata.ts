const LOCAL = /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/

/**
 * The identifier of the policy decision point: the configured https address. Without one, the
 * `Host` header is accepted only for loopback addresses. Null if there is none.
 */
export function decisionPoint(baseUrl: string | undefined, asked: string): string | null {
  const url = new URL(baseUrl ?? asked)
  const isLocal = LOCAL.test(url.hostname)
  if (!isLocal && (baseUrl === undefined || url.protocol !== 'https:')) return null
  return url.origin + (baseUrl === undefined ? '' : url.pathname.replace(/\/+$/, ''))
}

export const metadataOf = (identifier: string) => ({
  policy_decision_point: identifier,
  access_evaluation_endpoint: `${identifier}/access/v1/evaluation`,
  access_evaluations_endpoint: `${identifier}/access/v1/evaluations`,
})
