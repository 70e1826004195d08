/**
 * Decodes standard base64 with padding (RFC 4648 section 4), or returns null. Node skips what it
 * does not know; signed text must have exactly one spelling.
 */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : null
}

/** A hash from hex, as the ledger writes it, to base64, as C2SP formats write it. */
export function hexToBase64(hex: string): string {
  return Buffer.from(hex, 'hex').toString('base64')
}

/** A SHA-256 hash from base64 to hex; null unless it is exactly 32 bytes in strict base64. */
export function hashFromBase64(text: string): string | null {
  const bytes = decodeBase64(text)
  return bytes?.length === 32 ? bytes.toString('hex') : null
}

/** A whole number as ASCII decimal without leading zeros, up to 2^53 - 1; null otherwise. */
export function parseDecimal(text: string): number | null {
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text)) return null
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : null
}
