/** A key of a key management service, as settings name it. */
export type KeyReference =
  | { readonly service: 'awskms'; readonly key: string }
  | { readonly service: 'vault'; readonly mount: string; readonly key: string }

/** The rule of `parseKeyReference`, for messages: "must be …". */
export const KEY_REFERENCE_RULE = 'awskms:<key id or ARN> or vault+transit:<mount>/<key>'

/** Parses a key reference; null for any other text. */
export function parseKeyReference(text: string): KeyReference | null {
  const [, aws] = /^awskms:([A-Za-z0-9:/_-]{1,2048})$/.exec(text) ?? []
  if (aws !== undefined) return { service: 'awskms', key: aws }
  const [, mount, key] =
    /^vault\+transit:([A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*)\/([A-Za-z0-9_.-]+)$/.exec(text) ?? []
  return mount === undefined || key === undefined ? null : { service: 'vault', mount, key }
}
