/**
 * Decodes standard base64 with padding (RFC 4648 section 4), or returns null. Node skips unknown
 * characters; signed text must have exactly one encoding.
 */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}

/** Converts a hash from hex (as in the ledger) to base64 (as in C2SP formats). */
export function hexToBase64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64')
}

/**
 * Converts a SHA-256 hash from base64 to hex; null unless it is exactly 32 bytes in strict base64.
 */
export function hashFromBase64(text: string): string | null {
  const bytes = decodeBase64(text)
  return bytes?.length === 32 ? bytes.toString('hex') : null
}

/** Parses an ASCII decimal integer without leading zeros, up to 2^53 - 1; null otherwise. */
export function parseDecimal(text: string): number | null {
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text)) return null
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : null
}
