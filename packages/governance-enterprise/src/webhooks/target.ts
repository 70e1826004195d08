import type { WebhookEvent, WebhookInput } from '@remit/contract'
import { WebhookEvent as Events } from '@remit/contract'
import { invalid } from '@remit/core/base'
import type { Deps } from '@remit/core/module'

const MAILTO = 'mailto:'
const MAX_ADDRESSES = 20
const MAX_ADDRESS = 254

/** An address that a mail server can deliver to; quoted and local forms are left out. */
export const isAddress = (text: string): boolean =>
  text.length <= MAX_ADDRESS &&
  /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[\w-]*\.)+[a-z]{2,}$/i.test(text)

/** The addresses of a `mailto:` URL; empty for those who can vote. */
export const addressesIn = (url: string): string[] =>
  url.slice(MAILTO.length).split(',').filter(Boolean)

/** Where a webhook sends to, and its events. Throws a 400 that names the field. */
export function targetOf(
  { outbound, settings }: Pick<Deps, 'outbound' | 'settings'>,
  { url, format, events }: WebhookInput,
): { readonly url: string; readonly events: readonly WebhookEvent[] } {
  const standard = format === 'standard' ? Events.options : (['approval.requested'] as const)
  const chosen = events ?? standard
  if (format !== 'email') {
    const target = outbound.checkTarget(url)
    if ('refused' in target) throw invalid('url', target.refused)
    return { url: target.url.href, events: chosen }
  }
  if (!settings.smtp)
    throw invalid('format', 'must be standard, slack or teams: the server has no REMIT_SMTP_URL')
  const addresses = addressesIn(url)
  const isMailto = url.startsWith(MAILTO) && addresses.every(isAddress)
  if (!isMailto || addresses.length > MAX_ADDRESSES)
    throw invalid(
      'url',
      `must be mailto: with up to ${MAX_ADDRESSES} addresses and commas between them, or mailto: alone for those who can vote`,
    )
  if (addresses.length === 0 && chosen.some((event) => event !== 'approval.requested'))
    throw invalid('events', 'must be approval.requested alone where url has no address')
  return { url: MAILTO + addresses.join(','), events: chosen }
}
