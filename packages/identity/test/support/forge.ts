import { crc32 } from 'node:zlib'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The text with its last secret character changed and its check sum right again. */
export function withOtherSecret(text: string): string {
  const body = `${text.slice(0, 62)}${text[62] === 'x' ? 'y' : 'x'}`
  let [rest, sum] = [crc32(body), '']
  for (let i = 0; i < 6; i++) [rest, sum] = [Math.floor(rest / 62), `${BASE62[rest % 62]}${sum}`]
  return body + sum
}
