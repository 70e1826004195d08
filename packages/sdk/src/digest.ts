const encoder = new TextEncoder()

/** UTF-8; a lone surrogate becomes its three bytes of WTF-8, so that different texts stay different. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  if (text.isWellFormed()) return encoder.encode(text)
  const bytes: number[] = []
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0
    if (code < 0xd800 || code > 0xdfff) bytes.push(...encoder.encode(char))
    else bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f))
  }
  return Uint8Array.from(bytes)
}

export async function sha256(content: Uint8Array<ArrayBuffer> | string): Promise<Uint8Array> {
  const bytes = typeof content === 'string' ? bytesOf(content) : content
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** 128 random bits; unlike `crypto.randomUUID`, also outside secure contexts. */
export const randomId = (): string => base64url(crypto.getRandomValues(new Uint8Array(16)))
