/** US dollars with all their decimals, at least two: amounts are exact to a millionth. */
export function usd(amount: number): string {
  const [whole = '0', fraction = ''] = amount.toFixed(6).split('.')
  const sign = whole.startsWith('-') ? '−' : ''
  const grouped = whole.replace('-', '').replace(/\B(?=(\d{3})+$)/g, ',')
  return `${sign}$${grouped}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}

/** US dollars as amounts of requests are written: `5,022.00 USD`. */
export const usdText = (amount: number): string => `${usd(amount).replace('$', '')} USD`

export const count = (n: number): string => n.toLocaleString('en-US')
