/** US dollars, such as `5,022.00 USD`, with all decimals: amounts are exact to a millionth. */
export function usd(amount: number): string {
  const [whole = '0', fraction = ''] = amount.toFixed(6).split('.')
  const sign = whole.startsWith('-') ? '−' : ''
  const grouped = whole.replace('-', '').replace(/\B(?=(\d{3})+$)/g, ',')
  return `${sign}${grouped}.${fraction.replace(/0+$/, '').padEnd(2, '0')} USD`
}

export const count = (n: number): string => n.toLocaleString('en-US')
